//! Pins: what moderators keep on top of a board.

use axum::extract::State;
use axum::response::Response;
use madang_article::Article;
use madang_board::ArticleId;
use madang_kernel::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{ArticleBody, Counts};
use crate::extract::{Json, PathId, Signed};
use crate::openapi::{Conflict, IdText, TimeText};
use crate::state::{ArticleCalls, Shared};
use crate::{ApiError, reply};

/// Until when an article is pinned.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewPin)]
pub(crate) struct PinBody {
    /// When the pin ends by itself; null for one that stays until it is taken away.
    #[serde(default)]
    #[schema(value_type = Option<TimeText>, required = false)]
    until: Option<Timestamp>,
}

/// Pin an article on top of its board (moderators of the board).
///
/// The last pinned article stands first; pinning it again moves it up and sets a new end. A board has at most 8.
#[utoipa::path(
    put, path = "/api/v1/articles/{article_id}/pin", operation_id = "pin_article", tag = "moderation", request_body = PinBody,
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The article as it is now", body = ArticleBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn pin(
    State(api): State<Shared<ArticleCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
    body: Json<PinBody>,
) -> Result<Response, ApiError> {
    let pinned = api.articles.pin(&session.actor, article, body.value.until).await?;
    answer(&api, &pinned, true).await
}

/// Take the pin from an article (moderators of the board).
#[utoipa::path(
    delete, path = "/api/v1/articles/{article_id}/pin", operation_id = "unpin_article", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The article as it is now", body = ArticleBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn unpin(
    State(api): State<Shared<ArticleCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    let unpinned = api.articles.unpin(&session.actor, article).await?;
    answer(&api, &unpinned, false).await
}

async fn answer(api: &ArticleCalls, article: &Article, pinned: bool) -> Result<Response, ApiError> {
    // Deleted right after: the caller learns of the pin all the same.
    let counts = api.read.article(article.article_id).await?.as_ref().map(Counts::from).unwrap_or_default();
    let body = ArticleBody::written(article, &counts).with(Some(pinned), None);
    reply::changed(&body.tag(), &body)
}
