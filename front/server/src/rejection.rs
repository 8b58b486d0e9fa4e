//! Why the server refuses a request before, or instead of, a handler's answer.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::Problem;

const RETRY_SOON: Duration = Duration::from_secs(1);

/// A request refused for its cost, for a defect of ours, or because nobody can tell for which site it is; never for what
/// it says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The body did not arrive in time.
    #[error("The body took too long to arrive. Check the connection and send the request again.")]
    TooSlow,
    /// HTTP/1.1 without a Host, or any request with two: what stands between might have read another one.
    #[error("The request must have exactly one Host header, and it must name a host.")]
    NoHost,
    /// More than the rate limits allow; says when to come back.
    #[error("Too many requests. Try again in {} s.", whole_seconds(*.retry_after))]
    TooMany {
        /// When the next one is allowed.
        retry_after: Duration,
        /// How many are allowed at once.
        burst: u32,
        /// In how many seconds that many come back.
        window_s: u64,
    },
    /// The server is busy or a part of it is away; worth asking again.
    #[error("{detail}")]
    Unavailable {
        /// What the caller may know.
        detail: &'static str,
        /// When it is worth asking again.
        retry_after: Duration,
    },
    /// It took longer than a request may, and nobody can tell whether it takes effect.
    #[error("The request took too long, and may still take effect. Repeat it with the same Idempotency-Key.")]
    TimedOut,
    /// A defect of ours; the caller learns nothing but that.
    #[error("Something went wrong on our side. It has been logged.")]
    Internal,
}

impl Rejection {
    /// Too much work at the moment.
    pub fn overloaded(detail: &'static str) -> Self {
        Self::Unavailable { detail, retry_after: RETRY_SOON }
    }

    /// The status of each rejection.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable { .. } | Self::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// When it is worth asking again, where time helps.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { retry_after, .. } | Self::TooMany { retry_after, .. } => Some(*retry_after),
            Self::TimedOut => Some(RETRY_SOON),
            Self::TooSlow | Self::NoHost | Self::Internal => None,
        }
    }

    /// The stable name of the kind, and the kind in words.
    pub fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::NoHost => ("urn:madang:problem:no-host", "No host"),
            Self::TooSlow => ("urn:madang:problem:too-slow", "Body too slow"),
            Self::TooMany { .. } => ("urn:madang:problem:too-many", "Too many requests"),
            Self::Unavailable { .. } | Self::TimedOut => ("urn:madang:problem:unavailable", "Not available"),
            Self::Internal => ("urn:madang:problem:internal", "Internal error"),
        }
    }

    /// When to come back, and which limit was in the way: the same on a page and beside a problem.
    pub fn tell_limits(&self, headers: &mut HeaderMap) {
        if let Some(retry_after) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(retry_after)));
        }
        if let Self::TooMany { retry_after, burst, window_s } = self {
            limit_headers(headers, *retry_after, *burst, *window_s);
        }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let (kind, title) = self.kind();
        let (status, detail) = (self.status().as_u16(), self.to_string());
        let mut response = Problem { kind, title, status, detail: &detail, errors: &[] }.into_response();
        self.tell_limits(response.headers_mut());
        response
    }
}

/// Whole seconds, and never 0: that would be an invitation to hammer.
fn whole_seconds(retry_after: Duration) -> u64 {
    let started = u64::from(retry_after.subsec_millis() > 0);
    retry_after.as_secs().saturating_add(started).clamp(1, 86_400)
}

/// The limit as the IETF's draft of `RateLimit` writes it.
fn limit_headers(headers: &mut HeaderMap, retry_after: Duration, burst: u32, window_s: u64) {
    let reset = whole_seconds(retry_after);
    let pairs = [
        ("ratelimit-policy", format!("\"default\";q={burst};w={window_s}")),
        ("ratelimit", format!("\"default\";r=0;t={reset}")),
    ];
    for (name, value) in pairs {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}
