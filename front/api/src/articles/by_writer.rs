//! The articles of one member, newest first.

use axum::extract::State;
use axum::response::Response;
use madang_board::{ArticleId, MemberId};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::{self, SummaryBody};
use crate::ApiError;
use crate::extract::{PathId, Reader, ScrollQuery};
use crate::openapi::IdText;
use crate::reply::{self, Audience};
use crate::state::{ArticleCalls, Shared};

/// One step of a member's articles.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberArticles<'a> {
    /// Newest first.
    items: Vec<SummaryBody<'a>>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    next: Option<ArticleId>,
}

/// The articles of a member, newest first. Of somebody who is no member the list is empty.
#[utoipa::path(
    get, path = "/api/v1/members/{member_id}/articles", operation_id = "list_member_articles", tag = "articles",
    params(
        ("member_id" = IdText, Path, description = "The member"),
        ("before" = Option<IdText>, Query, description = "Only articles before this one: `next` of the step before"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Articles in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A step of the list", body = MemberArticles),
    ),
)]
pub(crate) async fn by_writer(
    State(api): State<Shared<ArticleCalls>>,
    PathId(member): PathId<MemberId>,
    ScrollQuery(before, size): ScrollQuery<ArticleId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let found = api.articles.by_writer(member, before, size).await?;
    let ids: Vec<ArticleId> = found.items.iter().map(|article| article.article_id).collect();
    let read = api.read.articles(&ids).await?;
    // One that was deleted meanwhile is left out.
    let items: Vec<_> = read.iter().flatten().map(SummaryBody::of).collect();
    let bytes_hint = items.len() * body::SUMMARY_BYTES_HINT;
    let list = MemberArticles { items, next: found.next };
    reply::read(&reader, Audience::Everybody, &list, bytes_hint).await
}
