//! Pages for people, rendered on the server: a plain front page, and the set-up of the first administrator.

mod home;
mod page;
mod setup;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use madang_article::ArticleService;
use madang_member::MemberService;

/// A form of two short fields fits many times.
const FORM_BYTES_MAX: usize = 16 * 1_024;

/// What the pages work with.
#[derive(Clone)]
pub struct WebState {
    /// Members and sessions.
    pub members: Arc<MemberService>,
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
    /// Opens the set-up page while the site has no administrator; without it the page does not exist.
    pub setup_token: Option<Arc<str>>,
}

/// The pages. Without a fallback, so that they can stand beside the API.
pub fn router(state: WebState) -> Router {
    let setup = setup::SetupState::new(&state);
    Router::new()
        .route("/", get(home::home))
        .with_state(state)
        .route("/setup", get(setup::form).post(setup::submit))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .with_state(setup)
        .route("/assets/madang.css", get(style))
}

async fn style() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, include_str!("../assets/madang.css"))
}
