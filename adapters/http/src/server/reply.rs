//! Questions read, answers and refusals written: the one place of this end that knows status codes.

use std::time::Duration;

use axum::Router;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use madang_kernel::{Invalid, StoreError};

use crate::wire::{FailureBody, Question};

/// When a busy process is worth asking again.
const BUSY_MS: u64 = 100;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Whoever asks does not have the secret.
    NoSecret,
    /// The question cannot be read, or asks for too much.
    Malformed(String),
    /// The question is longer than any of ours.
    TooLarge,
    /// This process does not answer such questions.
    NotServed,
    /// The store could not answer.
    Store(StoreError),
}

impl Refusal {
    pub(super) fn busy(reason: &str) -> Self {
        let (reason, retry_after) = (reason.to_owned(), Duration::from_millis(BUSY_MS));
        Self::Store(StoreError::Unavailable { what: "internal calls", reason, retry_after })
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NoSecret => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotServed => StatusCode::NOT_FOUND,
            Self::Store(StoreError::Unavailable { .. }) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(StoreError::Broken { .. }) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn body(self) -> FailureBody {
        let told = |error: &str| FailureBody { error: error.to_owned(), retry_after_ms: None };
        match self {
            Self::NoSecret => told("the secret is missing or wrong"),
            Self::Malformed(reason) => told(&reason),
            Self::TooLarge => told("the question is too large"),
            Self::NotServed => told("not served by this process"),
            Self::Store(error @ StoreError::Broken { .. }) => {
                tracing::error!("an internal call failed, answering with 500: {error}: {}", cause(&error));
                told(&error.to_string())
            }
            Self::Store(error) => {
                let after = match &error {
                    StoreError::Unavailable { retry_after, .. } => u64::try_from(retry_after.as_millis()).ok(),
                    StoreError::Broken { .. } => None,
                };
                FailureBody { error: error.to_string(), retry_after_ms: after }
            }
        }
    }
}

fn cause(error: &StoreError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Self::Malformed(invalid.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A path or a method that is none of this process's.
pub(super) async fn not_served() -> Refusal {
    Refusal::NotServed
}

/// Adds the route of a question.
fn on<Q, F, A>(router: Router, answer: F) -> Router
where
    Q: Question,
    F: Fn(Q) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<Q::Answer, Refusal>> + Send + 'static,
{
    let handler = async move |body: Result<Bytes, BytesRejection>| respond(body, answer).await;
    router.route(Q::PATH, post(handler))
}

/// Adds the route of a question that a part of the process answers.
pub(super) fn with<P, Q, A>(
    router: Router,
    part: &P,
    answer: impl Fn(P, Q) -> A + Clone + Send + Sync + 'static,
) -> Router
where
    P: Clone + Send + Sync + 'static,
    Q: Question,
    A: Future<Output = Result<Q::Answer, Refusal>> + Send + 'static,
{
    let part = part.clone();
    on(router, move |question: Q| answer(part.clone(), question))
}

async fn respond<Q, F, A>(body: Result<Bytes, BytesRejection>, answer: F) -> Result<Response, Refusal>
where
    Q: Question,
    F: Fn(Q) -> A,
    A: Future<Output = Result<Q::Answer, Refusal>>,
{
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::TooLarge,
        _ => Refusal::Malformed("the question could not be read".to_owned()),
    })?;
    let question = serde_json::from_slice(&body).map_err(|error| Refusal::Malformed(error.to_string()))?;
    let answer = answer(question).await?;
    let json = serde_json::to_vec(&answer).map_err(|error| StoreError::broken("internal calls", error))?;
    Ok(([(header::CONTENT_TYPE, JSON)], json).into_response())
}

/// Refuses a question that asks for too many at once.
pub(super) fn at_most(what: &'static str, count: usize, max: usize) -> Result<(), Refusal> {
    if count <= max { Ok(()) } else { Err(Invalid::field(what, format!("must be at most {max}")).into()) }
}
