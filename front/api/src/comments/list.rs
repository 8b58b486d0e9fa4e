//! An article's comments, by page number or by cursor.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::ArticleId;
use madang_comment::Comment;
use serde::Serialize;
use utoipa::ToSchema;

use super::body::CommentBody;
use crate::extract::{CommentCursorText, ListQuery, PathId};
use crate::openapi::IdText;
use crate::state::{CommentCalls, Shared};
use crate::{ApiError, reply};

/// A numbered page.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentPage {
    /// Each comment followed by its replies, oldest first; empty past the end.
    items: Vec<CommentBody>,
    page: u32,
    page_size: u32,
    /// The count with the places of deleted comments, exact up to what the next ten page buttons need.
    known_count: u64,
}

/// One step of a cursor list.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentScroll {
    /// Each comment followed by its replies, oldest first.
    items: Vec<CommentBody>,
    /// Goes into `after` of the next step; null at the end.
    #[schema(required = true)]
    next: Option<String>,
}

/// Either kind of list.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum CommentList {
    /// When asked with `page` and `page_size`, or with nothing.
    Page(CommentPage),
    /// When asked with `after` or `limit`.
    Scroll(CommentScroll),
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
) -> Result<Response, ApiError> {
    let list = match query {
        ListQuery::Page(page, size) => {
            let found = api.page(article, page, size).await?;
            let (page, page_size) = (page.get(), size.get());
            CommentList::Page(CommentPage {
                items: bodies(found.items),
                page,
                page_size,
                known_count: found.known_count,
            })
        }
        ListQuery::Scroll(after, size) => {
            let found = api.scroll(article, after.as_ref().map(|place| place.0.as_str()), size).await?;
            let next = found.next.map(|cursor| cursor.to_string());
            CommentList::Scroll(CommentScroll { items: bodies(found.items), next })
        }
    };
    reply::json(StatusCode::OK, &list)
}

fn bodies(comments: Vec<Comment>) -> Vec<CommentBody> {
    comments.into_iter().map(CommentBody::from).collect()
}
