//! Addresses of forms that are opened like pages: a page for people, a problem for programs.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use madang_server::{Problem, vary_by_accept, wants_page};

use crate::error::WebError;
use crate::state::Shared;
use crate::visit::Visit;

/// Something is here, and not by this method: somebody who opens the address of a form, mostly.
pub(crate) async fn wrong_method(State(web): State<Shared>, headers: HeaderMap, mut visit: Visit) -> Response {
    // There is no page here to come back to.
    visit.here = "/".to_owned();
    let error = WebError::WrongMethod;
    let mut response = if wants_page(&headers) {
        error.page(&web, &visit)
    } else {
        let (status, detail) = (
            error.status().as_u16(),
            "This address does not support this method. The Allow header lists the methods it supports.",
        );
        Problem { kind: "about:blank", title: "Method Not Allowed", status, detail, errors: &[] }.into_response()
    };
    vary_by_accept(response.headers_mut());
    response
}
