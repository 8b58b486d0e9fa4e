//! Views: count one, tell how many there are.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::ArticleId;
use madang_view::Viewed;
use serde::Serialize;
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{PathId, Reader, ViewedBy};
use crate::openapi::IdText;
use crate::reply::{self, Audience};
use crate::state::{Shared, ViewCalls};

/// What became of a view.
#[derive(Serialize, ToSchema)]
#[schema(as = ViewResult)]
pub(crate) struct ViewedBody {
    /// False when this viewer was counted within the last ten minutes, or as many guests of their network as count.
    #[schema(example = true)]
    counted: bool,
    /// Views so far.
    #[schema(example = 345)]
    view_count: u64,
}

/// How often an article was looked at.
#[derive(Serialize, ToSchema)]
pub(crate) struct ViewCount {
    /// Views so far.
    #[schema(example = 345)]
    view_count: u64,
}

/// Look at an article. A viewer counts once in ten minutes: a member by their session, a guest by address and browser.
#[utoipa::path(
    post, path = "/api/v1/articles/{article_id}/views", operation_id = "view_article", tag = "views",
    security((), ("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "Whether it counted, and the count now", body = ViewedBody),
    ),
)]
pub(crate) async fn view(
    State(api): State<Shared<ViewCalls>>,
    PathId(article): PathId<ArticleId>,
    ViewedBy(viewer): ViewedBy,
) -> Result<Response, ApiError> {
    let Viewed { counted, view_count } = api.views.view(article, viewer).await?;
    reply::json(StatusCode::OK, &ViewedBody { counted, view_count })
}

/// How often an article was looked at.
#[utoipa::path(
    get, path = "/api/v1/articles/{article_id}/views", operation_id = "count_views", tag = "views",
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "The count", body = ViewCount),
    ),
)]
pub(crate) async fn views(
    State(api): State<Shared<ViewCalls>>,
    PathId(article): PathId<ArticleId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let view_count = api.views.count(article).await?;
    reply::read(&reader, Audience::Everybody, &ViewCount { view_count }, 0).await
}
