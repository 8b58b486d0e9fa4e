//! Refusals as people meet them. Who opened a page is answered with one; which words and which look it has is for the front
//! that has pages to say.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::{Rejection, wants_page};

/// Below this, everything is for programs.
const CALLS: &str = "/api/";

/// Pages in place of problems.
pub trait RefusalPages: Send + Sync {
    /// A request was refused before it was looked at; the status and when to come back are filled in by the caller.
    fn rejected(&self, rejection: &Rejection, request: Request) -> Response;
    /// There is nothing under the address.
    fn not_found(&self, request: Request) -> Response;
}

/// Pages for people, to stand beside an API.
pub struct Pages {
    /// The addresses they are at; without a fallback.
    pub router: Router,
    /// What people get in place of a problem.
    pub refusals: Arc<dyn RefusalPages>,
}

/// The page for a request that was refused, if a person waits for one; otherwise the problem.
pub(crate) fn reject(pages: Option<&dyn RefusalPages>, rejection: Rejection, request: Request) -> Response {
    let Some(pages) = pages.filter(|_| is_for_a_person(&request)) else { return rejection.into_response() };
    let mut page = pages.rejected(&rejection, request);
    let problem = rejection.into_response();
    *page.status_mut() = problem.status();
    for name in [header::RETRY_AFTER.as_str(), header::CACHE_CONTROL.as_str(), "ratelimit", "ratelimit-policy"] {
        if let Some((name, value)) = header::HeaderName::try_from(name).ok().zip(problem.headers().get(name)) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

/// Whether a page is wanted, and not below what is for programs.
pub fn is_for_a_person(request: &Request) -> bool {
    wants_page(request.headers()) && !request.uri().path().starts_with(CALLS)
}
