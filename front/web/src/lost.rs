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
    if takes_pages(&headers) {
        return WebError::NotFound.page(&web, &visit);
    }
    problem(StatusCode::NOT_FOUND, "there is no such address")
}

/// Something is here, and it is not asked for in this way: somebody who opens the address of a form, mostly.
pub(crate) async fn wrong_method(State(web): State<Shared>, headers: HeaderMap, visit: Visit) -> Response {
    if takes_pages(&headers) {
        return WebError::WrongMethod.page(&web, &visit);
    }
    problem(StatusCode::METHOD_NOT_ALLOWED, "this address does not take that method")
}

fn takes_pages(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

fn problem(status: StatusCode, detail: &str) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    let problem =
        serde_json::json!({ "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail });
    (status, [(header::CONTENT_TYPE, "application/problem+json")], problem.to_string()).into_response()
}
