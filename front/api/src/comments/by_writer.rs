//! The comments of one member, newest first.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{CommentId, MemberId};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::CommentBody;
use crate::extract::{PathId, ScrollQuery};
use crate::openapi::IdText;
use crate::state::{CommentCalls, Shared};
use crate::{ApiError, reply};

/// One step of a member's comments.
#[derive(Serialize, ToSchema)]
pub(crate) struct WriterComments {
    items: Vec<CommentBody>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    next: Option<CommentId>,
}

/// The comments of a member, newest first. Of somebody who is no member the list is empty.
#[utoipa::path(
    get, path = "/api/v1/members/{member_id}/comments", operation_id = "list_member_comments", tag = "comments",
    params(
        ("member_id" = IdText, Path, description = "The member"),
        ("before" = Option<IdText>, Query, description = "Only comments before this one: `next` of the step before"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Comments in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A step of the list", body = WriterComments),
    ),
)]
pub(crate) async fn by_writer(
    State(api): State<Shared<CommentCalls>>,
    PathId(member): PathId<MemberId>,
    ScrollQuery(before, size): ScrollQuery<CommentId>,
) -> Result<Response, ApiError> {
    let found = api.by_writer(member, before, size).await?;
    let items = found.items.into_iter().map(CommentBody::from).collect();
    reply::json(StatusCode::OK, &WriterComments { items, next: found.next })
}
