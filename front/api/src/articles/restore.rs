//! Restores: what a moderator removed is brought back, within 30 days.

use axum::extract::State;
use axum::response::Response;
use madang_board::ArticleId;

use super::body::{ArticleBody, Counts};
use crate::extract::{PathId, Signed};
use crate::openapi::{Conflict, IdText};
use crate::state::{ArticleCalls, Shared};
use crate::{ApiError, reply};

/// Restore an article that a moderator removed (moderators of its board), within 30 days.
///
/// It comes back where it was, with its comments, likes and views. What its author deleted is gone.
#[utoipa::path(
    post, path = "/api/v1/articles/{article_id}/restore", operation_id = "restore_article", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The article as it is now", body = ArticleBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn restore(
    State(api): State<Shared<ArticleCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    let restored = api.articles.restore(&session.actor, article).await?;
    // Deleted right after: the caller learns of the restore all the same.
    let counts = api.read.article(article).await?.as_ref().map(Counts::from).unwrap_or_default();
    let body = ArticleBody::written(&restored, &counts);
    reply::changed(&body.tag(), &body)
}
