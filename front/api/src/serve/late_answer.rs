//! The answer to a request that has waited for too long already: made once, before there is a hurry, and given before
//! anybody looks where the request wants to go.

use std::sync::OnceLock;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::BodyExt;
use metrics::Counter;

use crate::ApiError;
use crate::gate::secure;
use crate::meters::shed_counter;

/// 503, ready to be sent.
pub(super) struct LateAnswer {
    headers: HeaderMap,
    body: Bytes,
    given: OnceLock<Counter>,
}

impl LateAnswer {
    pub(super) fn new() -> Self {
        let (mut head, body) = ApiError::overloaded("there is more to do than can be done: try again shortly")
            .into_response()
            .into_parts();
        secure(&mut head.headers);
        // A problem has a body that is there at once.
        let body = body.collect().now_or_never().and_then(Result::ok).map(|body| body.to_bytes()).unwrap_or_default();
        Self { headers: head.headers, body, given: OnceLock::new() }
    }

    pub(super) fn give(&self) -> Response {
        self.given.get_or_init(shed_counter).increment(1);
        let mut response = Response::new(Body::from(self.body.clone()));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response.headers_mut().clone_from(&self.headers);
        response
    }
}
