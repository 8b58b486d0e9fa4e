//! Addresses that lead nowhere: a page for people, a problem for programs. Two segments at most are taken here, so that
//! everything below `/api/v1` stays the API's to refuse.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use madang_server::{Problem, wants_page};

use crate::error::WebError;
use crate::state::Shared;
use crate::visit::Visit;

/// There is nothing here.
pub(crate) async fn not_found(State(web): State<Shared>, headers: HeaderMap, visit: Visit) -> Response {
    if wants_page(&headers) {
        return WebError::NotFound.page(&web, &visit);
    }
    problem(&WebError::NotFound, "Not Found", "there is no such address")
}

/// Something is here, and not by this method: somebody who opens the address of a form, mostly.
pub(crate) async fn wrong_method(State(web): State<Shared>, headers: HeaderMap, visit: Visit) -> Response {
    if wants_page(&headers) {
        return WebError::WrongMethod.page(&web, &visit);
    }
    problem(&WebError::WrongMethod, "Method Not Allowed", "this address does not take that method")
}

fn problem(error: &WebError, title: &str, detail: &str) -> Response {
    let status = error.status().as_u16();
    Problem { kind: "about:blank", title, status, detail, errors: &[] }.into_response()
}
