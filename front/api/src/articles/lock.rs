//! Locks: articles that take no new comments. Whoever owns comments keeps them, so their role serves these calls.

use axum::extract::State;
use axum::response::Response;
use madang_board::{Actor, ArticleId};

use super::body::ArticleBody;
use crate::extract::{PathId, Signed};
use crate::openapi::{Conflict, IdText};
use crate::state::{LockCalls, Shared};
use crate::{ApiError, reply};

/// Close an article to new comments (moderators of its board).
///
/// Moderators of the board can still comment on it.
#[utoipa::path(
    put, path = "/api/v1/articles/{article_id}/lock", operation_id = "lock_article", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The article as it is now", body = ArticleBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn lock(
    State(api): State<Shared<LockCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    set(&api, &session.actor, article, true).await
}

/// Open an article to new comments again (moderators of its board).
#[utoipa::path(
    delete, path = "/api/v1/articles/{article_id}/lock", operation_id = "unlock_article", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The article as it is now", body = ArticleBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn unlock(
    State(api): State<Shared<LockCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    set(&api, &session.actor, article, false).await
}

async fn set(api: &LockCalls, actor: &Actor, article: ArticleId, locked: bool) -> Result<Response, ApiError> {
    api.comments.set_lock(actor, article, locked).await?;
    let read = api.read.article(article).await?.ok_or(ApiError::NotFound("article"))?;
    let body = ArticleBody::read(&read).with(None, Some(locked));
    reply::changed(&body.tag(), &body)
}
