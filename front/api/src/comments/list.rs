//! An article's comments, by page number or by cursor.

use axum::extract::State;
use axum::response::Response;
use madang_board::ArticleId;
use serde::Serialize;
use utoipa::ToSchema;

use super::body::{self, CommentBody};
use crate::ApiError;
use crate::extract::{CommentCursorText, ListQuery, PathId, Reader};
use crate::next_step::NextStep;
use crate::openapi::IdText;
use crate::reply::{self, Audience};
use crate::state::{CommentCalls, Shared};

/// A numbered page, with `page`, `page_size` and `known_count`; or a step of the cursor, with `next`.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentList {
    /// Each comment followed by its replies, oldest first; empty past the end.
    items: Vec<CommentBody>,
    /// The page that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, required = false, example = 1)]
    page: Option<u32>,
    /// The most comments that are on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, required = false, example = 30)]
    page_size: Option<u32>,
    /// The count with the places of deleted comments, exact up to what the next ten page buttons need.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, required = false, example = 4)]
    known_count: Option<u64>,
    /// Goes into `after` of the next step; null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false, example = "123456789012345678.123456789012345679")]
    next: Option<NextStep<String>>,
}

/// The comments of an article, each followed by its replies, oldest first.
///
/// By page number with `page` and `page_size`, which is also what is answered when nothing is asked for; or by cursor
/// with `after` and `limit`. The two do not mix.
#[utoipa::path(
    get, path = "/api/v1/articles/{article_id}/comments", operation_id = "list_comments", tag = "comments",
    params(
        ("article_id" = IdText, Path, description = "The article"),
        ("page" = Option<u32>, Query, minimum = 1, maximum = 1_000_000_000, description = "The page; 1 when left out"),
        ("page_size" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Comments on a page; 30 when left out"),
        ("after" = Option<String>, Query, pattern = r"^(?:[1-9][0-9]{0,17}|(?:[0-9A-Za-z]{5}){1,50})\.[1-9][0-9]{0,17}$",
            description = "Only comments behind this place: `next` of the step before"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Comments in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A page, or a step of the cursor", body = CommentList),
    ),
)]
pub(crate) async fn comments(
    State(api): State<Shared<CommentCalls>>,
    PathId(article): PathId<ArticleId>,
    query: ListQuery<CommentCursorText>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let list = match query {
        ListQuery::Page(page, size) => {
            let found = api.page(article, page, size).await?;
            CommentList {
                items: body::listed(found.items),
                page: Some(page.get()),
                page_size: Some(size.get()),
                known_count: Some(found.known_count),
                next: None,
            }
        }
        ListQuery::Scroll(after, size) => {
            let found = api.scroll(article, after.as_ref().map(|place| place.0.as_str()), size).await?;
            let next = Some(NextStep(found.next.map(|cursor| cursor.to_string())));
            CommentList { items: body::listed(found.items), page: None, page_size: None, known_count: None, next }
        }
    };
    reply::read(&reader, Audience::Everybody, &list, body::bytes_hint(&list.items)).await
}
