//! Addresses that lead nowhere: a page for people, a problem for programs. Two segments at most are taken here, so that
//! everything below `/api/v1` stays the API's to refuse.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::WebError;
use crate::state::Shared;
use crate::visit::Visit;

/// There is nothing here.
pub(crate) async fn lost(State(web): State<Shared>, headers: HeaderMap, visit: Visit) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/html") {
        return WebError::NotFound.page(&web, &visit);
    }
    let problem = serde_json::json!({
        "type": "about:blank", "title": "Not Found", "status": 404, "detail": "there is no such address",
    });
    (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/problem+json")], problem.to_string()).into_response()
}
