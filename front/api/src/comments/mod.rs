//! Comments: write, read, count, edit, delete.

mod body;
mod by_writer;
mod list;

use axum::extract::State;
use axum::response::Response;
use madang_board::{ArticleId, CommentId, Reason};

use self::body::{CommentBody, DraftBody, EditBody};
pub(crate) use self::by_writer::{__path_by_writer, by_writer};
pub(crate) use self::list::{__path_comments, comments};
use crate::ApiError;
use crate::articles::body::Deletion;
use crate::boards::ItemCount;
use crate::extract::{IdempotencyKey, IfMatch, Json, OptionalJson, PathId, Reader, Signed};
use crate::openapi::{Changed, Conflict, IdText};
use crate::reply::{self, Audience};
use crate::state::{CommentCalls, Shared};

/// Comment on an article, or reply to one of its comments.
#[utoipa::path(
    post, path = "/api/v1/articles/{article_id}/comments", operation_id = "create_comment", tag = "comments", request_body = DraftBody,
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("article_id" = IdText, Path, description = "The article"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 64, pattern = "^[!-~]{1,64}$",
            description = "The same key with the same body within 24 hours has one effect and the same answer; of a comment \
                deleted meanwhile only its place is told"),
    ),
    responses(
        (status = 201, description = "The comment", body = CommentBody, headers(
            ("Location" = String, description = "Where the comment is"),
            ("ETag" = String, description = "Goes into If-Match of an edit"),
        )),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn create(
    State(api): State<Shared<CommentCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
    key: IdempotencyKey,
    body: Json<DraftBody>,
) -> Result<Response, ApiError> {
    let idempotency =
        key.idempotency(&session.actor, || format!("POST /api/v1/articles/{article}/comments"), &body.bytes);
    let comment = api.create(&session.actor, article, body.value.into(), idempotency).await?;
    let comment = CommentBody::from(comment);
    reply::created(&format!("/api/v1/comments/{}", comment.comment_id), Some(comment.tag()), &comment)
}

/// How many comments an article has, deleted ones left out.
#[utoipa::path(
    get, path = "/api/v1/articles/{article_id}/comments/count", operation_id = "count_comments", tag = "comments",
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The count", body = ItemCount),
    ),
)]
pub(crate) async fn count(
    State(api): State<Shared<CommentCalls>>,
    PathId(article): PathId<ArticleId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let count = api.count(article).await?.comment_count;
    reply::read(&reader, Audience::Everybody, &ItemCount { count }, 0).await
}

/// One comment, or the place of a deleted one that has replies.
#[utoipa::path(
    get, path = "/api/v1/comments/{comment_id}", operation_id = "read_comment", tag = "comments",
    params(
        ("comment_id" = IdText, Path, description = "The comment"),
        ("If-None-Match" = Option<String>, Header, description = "ETags the caller has already"),
    ),
    responses(
        (status = 200, description = "The comment", body = CommentBody, headers(("ETag" = String, description = "Changes with the body; goes into If-Match of an edit"))),
        (status = 304, description = "As the caller has it"),
    ),
)]
pub(crate) async fn comment(
    State(api): State<Shared<CommentCalls>>,
    PathId(comment): PathId<CommentId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let comment = CommentBody::from(api.get(comment).await?);
    reply::tagged(&reader, Audience::Everybody, &comment.tag(), &comment, comment.text_bytes()).await
}

/// Edit a comment (its author, or a moderator).
#[utoipa::path(
    put, path = "/api/v1/comments/{comment_id}", operation_id = "edit_comment", tag = "comments", request_body = EditBody,
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("comment_id" = IdText, Path, description = "The comment"),
        ("If-Match" = Option<String>, Header,
            pattern = r#"^(?:\*|(?:W/)?"[!#-+\--~]*"(?: ?, ?(?:W/)?"[!#-+\--~]*"){0,15})$"#,
            description = "The ETag of the version that was edited: refused with 412 if someone else was faster"),
    ),
    responses(
        (status = 200, description = "The comment as it is now", body = CommentBody, headers(("ETag" = String, description = "Goes into If-Match of the next edit"))),
        (status = 409, response = Conflict),
        (status = 412, response = Changed),
    ),
)]
pub(crate) async fn edit(
    State(api): State<Shared<CommentCalls>>,
    PathId(comment): PathId<CommentId>,
    Signed(session): Signed,
    versions: IfMatch,
    body: Json<EditBody>,
) -> Result<Response, ApiError> {
    let expected = expected_version(&api, comment, &versions).await?;
    let edited = CommentBody::from(api.edit(&session.actor, comment, body.value.content, expected).await?);
    reply::changed(&edited.tag(), &edited)
}

/// Delete a comment (its author, or a moderator). One with replies keeps its place, without text and writer.
///
/// So does what a moderator removes, which can be restored for 30 days.
#[utoipa::path(
    delete, path = "/api/v1/comments/{comment_id}", operation_id = "delete_comment", tag = "comments", request_body = Option<Deletion>,
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("comment_id" = IdText, Path, description = "The comment"),
        ("If-Match" = Option<String>, Header,
            pattern = r#"^(?:\*|(?:W/)?"[!#-+\--~]*"(?: ?, ?(?:W/)?"[!#-+\--~]*"){0,15})$"#,
            description = "The ETag of the comment that is to be deleted: refused with 412 if it is not that any more"),
    ),
    responses(
        (status = 204, description = "Gone"),
        (status = 409, response = Conflict),
        (status = 412, response = Changed),
    ),
)]
pub(crate) async fn delete(
    State(api): State<Shared<CommentCalls>>,
    PathId(comment): PathId<CommentId>,
    Signed(session): Signed,
    versions: IfMatch,
    OptionalJson(deletion): OptionalJson<Deletion>,
) -> Result<Response, ApiError> {
    let reason = deletion.and_then(|deletion| deletion.reason);
    let expected = expected_version(&api, comment, &versions).await?;
    api.delete(&session.actor, comment, Reason::optional(reason.as_deref())?, expected).await?;
    Ok(reply::no_content())
}

/// Restore a comment that a moderator removed (moderators of its board), within 30 days.
///
/// What its author deleted is gone.
#[utoipa::path(
    post, path = "/api/v1/comments/{comment_id}/restore", operation_id = "restore_comment", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("comment_id" = IdText, Path, description = "The comment")),
    responses(
        (status = 200, description = "The comment as it is now", body = CommentBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn restore(
    State(api): State<Shared<CommentCalls>>,
    PathId(comment): PathId<CommentId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    let restored = CommentBody::from(api.restore(&session.actor, comment).await?);
    reply::changed(&restored.tag(), &restored)
}

async fn expected_version(
    api: &Shared<CommentCalls>,
    comment: CommentId,
    versions: &IfMatch,
) -> Result<Option<u64>, ApiError> {
    versions.expected(async { Ok(api.get(comment).await?.version) }).await
}
