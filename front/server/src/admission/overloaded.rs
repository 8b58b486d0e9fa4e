//! What people and programs are told under overload: the same 503, as a page for who asked for one.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::BodyExt;

use crate::security_headers::{isolate, secure};
use crate::{Rejection, vary_by_accept, wants_page};

/// In both languages: whose it is, is not looked up while there is no time. Reloading sends a form again, and its key keeps
/// it from being taken twice.
const PAGE: &str = "<!doctype html><html lang=\"ko\"><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
    <title>503</title></head><body><main><h1>서버가 지금 많이 바쁩니다</h1>\
    <p>잠시 뒤에 새로 고침해 주세요. 글이나 댓글을 보내셨다면 새로 고침할 때 다시 보내지며, 두 번 등록되지 않습니다.</p>\
    <div lang=\"en\"><h1>The server is very busy</h1>\
    <p>Please reload in a moment. If you sent an article or a comment, reloading sends it again, and it is still posted only once.</p></div></main></body></html>";

/// Both forms of the refusal, encoded beforehand: shedding must cost nearly nothing.
pub(crate) struct OverloadResponses {
    status: StatusCode,
    problem: Encoded,
    page: Encoded,
}

struct Encoded {
    headers: HeaderMap,
    body: Bytes,
}

impl OverloadResponses {
    /// Says `why` to programs; with `hsts`, browsers are told to come by TLS only.
    pub(crate) fn new(why: &'static str, hsts: bool) -> Self {
        let (mut head, body) = Rejection::overloaded(why).into_response().into_parts();
        secure(&mut head.headers, hsts);
        vary_by_accept(&mut head.headers);
        // A body of bytes is there at once.
        let body = body.collect().now_or_never().and_then(Result::ok).map(|body| body.to_bytes()).unwrap_or_default();
        let problem = Encoded { headers: head.headers.clone(), body };
        head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        isolate(&mut head.headers);
        let page = Encoded { headers: head.headers, body: Bytes::from_static(PAGE.as_bytes()) };
        Self { status: head.status, problem, page }
    }

    /// The form that suits the headers of a request.
    pub(crate) fn suiting(&self, request: &HeaderMap) -> Response {
        let Encoded { headers, body } = if wants_page(request) { &self.page } else { &self.problem };
        let mut response = Response::new(Body::from(body.clone()));
        *response.status_mut() = self.status;
        response.headers_mut().clone_from(headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    #[tokio::test]
    async fn who_opens_a_page_gets_one_and_programs_get_a_problem() {
        let responses = OverloadResponses::new("too much", true);
        for (accept, kind, part) in [
            (Some(BROWSER), "text/html; charset=utf-8", "Please reload"),
            (Some("application/json"), "application/problem+json", "too much"),
            (Some("*/*"), "application/problem+json", "too much"),
            (None, "application/problem+json", "too much"),
        ] {
            let headers: HeaderMap =
                accept.map(|accept| (header::ACCEPT, accept.parse().unwrap())).into_iter().collect();
            let (head, body) = responses.suiting(&headers).into_parts();
            let text = body.collect().await.unwrap().to_bytes();
            assert_eq!(head.status, 503);
            assert!(String::from_utf8_lossy(&text).contains(part), "{accept:?}");
            let told = |name: HeaderName| head.headers[name].to_str().unwrap();
            assert_eq!([told(header::CONTENT_TYPE), told(header::RETRY_AFTER)], [kind, "1"]);
            assert_eq!([told(header::CACHE_CONTROL), told(header::VARY)], ["no-store", "accept"]);
            assert!(head.headers.contains_key(header::CONTENT_SECURITY_POLICY));
            assert!(head.headers.contains_key(header::STRICT_TRANSPORT_SECURITY));
        }
        let plain = OverloadResponses::new("too much", false).suiting(&HeaderMap::new());
        assert!(!plain.headers().contains_key(header::STRICT_TRANSPORT_SECURITY));
    }
}
