//! Refusals as people meet them. Who opened a page is answered with one; which words and which look it has is for the front
//! that has pages to say.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::client_address::Peer;
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
    /// The patterns of these addresses, under which requests are counted and logged.
    pub patterns: Vec<&'static str>,
    /// What people get in place of a problem.
    pub refusals: Arc<dyn RefusalPages>,
}

/// The head of a request whose sender waits for a page, for the case that a refusal takes its place: by then the request
/// is gone.
pub(crate) fn head_for_page(pages: Option<&dyn RefusalPages>, request: &Request) -> Option<Request> {
    pages.filter(|_| is_for_a_person(request))?;
    let mut head = Request::new(Body::empty());
    *head.method_mut() = request.method().clone();
    *head.uri_mut() = request.uri().clone();
    head.headers_mut().clone_from(request.headers());
    if let Some(peer) = request.extensions().get::<Peer>() {
        head.extensions_mut().insert(*peer);
    }
    Some(head)
}

/// The page for a request that was refused, if a person waits for one; otherwise the problem.
pub(crate) fn reject(pages: Option<&dyn RefusalPages>, rejection: Rejection, request: Request) -> Response {
    let Some(pages) = pages.filter(|_| !is_call(request.uri().path())) else { return rejection.into_response() };
    let mut response = if wants_page(request.headers()) {
        let mut page = pages.rejected(&rejection, request);
        *page.status_mut() = rejection.status();
        page.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        rejection.tell_limits(page.headers_mut());
        page
    } else {
        rejection.into_response()
    };
    vary_by_accept(response.headers_mut());
    response
}

/// Whether a page is wanted, and not below what is for programs.
pub fn is_for_a_person(request: &Request) -> bool {
    wants_page(request.headers()) && !is_call(request.uri().path())
}

/// Whether a path is below what is for programs.
pub(crate) fn is_call(path: &str) -> bool {
    path.starts_with(CALLS)
}

/// Tells caches that who asks for something else than a page, or for a page, gets another answer.
pub fn vary_by_accept(headers: &mut HeaderMap) {
    // Beside whatever else the answer depends on.
    headers.append(header::VARY, HeaderValue::from_static("accept"));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;

    use super::*;

    struct Plain;

    impl RefusalPages for Plain {
        fn rejected(&self, _: &Rejection, _: Request) -> Response {
            ([(header::CONTENT_TYPE, "text/html"), (header::VARY, "cookie")], "page").into_response()
        }

        fn not_found(&self, _: Request) -> Response {
            "page".into_response()
        }
    }

    #[test]
    fn a_refusal_in_two_forms_says_what_it_depends_on() {
        let refused = |path: &str, accept: &str| {
            let request = Request::builder().uri(path).header(header::ACCEPT, accept).body(Body::empty()).unwrap();
            let too_many = Rejection::TooMany { retry_after: Duration::from_secs(7), burst: 2, window_s: 14 };
            let response = reject(Some(&Plain), too_many, request);
            let told = |name: &str| {
                let values = response.headers().get_all(name).iter().map(|value| value.to_str().unwrap());
                values.collect::<Vec<_>>().join(", ")
            };
            assert_eq!((response.status().as_u16(), told("retry-after")), (429, "7".to_owned()));
            assert_eq!(told("ratelimit"), "\"default\";r=0;t=7");
            assert_eq!(told("cache-control"), "no-store");
            (told("content-type"), told("vary"))
        };
        let problem = || "application/problem+json".to_owned();
        assert_eq!(refused("/b/general", "text/html"), ("text/html".to_owned(), "cookie, accept".to_owned()));
        assert_eq!(refused("/b/general", "*/*"), (problem(), "accept".to_owned()));
        assert_eq!(refused("/api/v1/boards", "text/html"), (problem(), String::new()), "one form for all");
    }
}
