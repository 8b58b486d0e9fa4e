//! The comments of one member, newest first.

use axum::extract::State;
use axum::response::Response;
use madang_board::{CommentId, MemberId};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::{self, CommentBody};
use crate::ApiError;
use crate::extract::{PathId, Reader, ScrollQuery};
use crate::openapi::IdText;
use crate::reply::{self, Audience};
use crate::state::{CommentCalls, Shared};

/// One step of a member's comments.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberComments {
    /// Newest first.
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
        (status = 200, description = "A step of the list", body = MemberComments),
    ),
)]
pub(crate) async fn by_writer(
    State(api): State<Shared<CommentCalls>>,
    PathId(member): PathId<MemberId>,
    ScrollQuery(before, size): ScrollQuery<CommentId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let found = api.by_writer(member, before, size).await?;
    let items = body::listed(found.items);
    let bytes_hint = body::bytes_hint(&items);
    let list = MemberComments { items, next: found.next };
    reply::read(&reader, Audience::Everybody, &list, bytes_hint).await
}
