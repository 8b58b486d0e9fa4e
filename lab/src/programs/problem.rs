//! Every refusal over HTTP is `application/problem+json`; this is the one place that knows statuses. Only what is no HTTP at
//! all is refused below, by the library, with a status and no body.

use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use madang_kernel::StoreError;

use crate::domain::{InvalidAmount, InvalidTxId, Refusal};

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The body is not what was asked for.
    #[error("{0}")]
    Malformed(String),
    /// The body is larger than anything that could be meant.
    #[error("the body is too large")]
    TooLarge,
    /// The body is not said to be JSON.
    #[error("the Content-Type has to be application/json")]
    MediaType,
    /// The body did not come.
    #[error("the body did not come in time")]
    TooSlow,
    /// A value that cannot be.
    #[error("{0}")]
    Invalid(String),
    /// Whoever asks did not show that they may.
    #[error("this is for the programs of the same run, which know its secret")]
    Unauthorized,
    /// Nothing is there.
    #[error("{0}")]
    NotFound(String),
    /// The method makes no sense here.
    #[error("this resource does not know the method")]
    Method,
    /// The ledger refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A server is away; nothing is known of the outcome, and the same request may be sent again.
    #[error("{0}; send the same request again")]
    Unavailable(String),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound(_) | Self::Refused(Refusal::UnknownAccount) => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Refused(Refusal::Conflict) => StatusCode::CONFLICT,
            Self::Refused(Refusal::BelowZero { .. } | Refusal::Overflow { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "Malformed request",
            Self::TooLarge => "Too large",
            Self::MediaType => "Unsupported media type",
            Self::TooSlow => "Too slow",
            Self::Invalid(_) => "Invalid value",
            Self::Unauthorized => "Unauthorized",
            Self::NotFound(_) => "Not found",
            Self::Method => "Method not allowed",
            Self::Refused(Refusal::UnknownAccount) => "Unknown account",
            Self::Refused(Refusal::Conflict) => "Transaction id in use",
            Self::Refused(Refusal::BelowZero { .. }) => "Insufficient funds",
            Self::Refused(Refusal::Overflow { .. }) => "Balance too large",
            Self::Unavailable(_) => "Temporarily unavailable",
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = serde_json::json!({
            "type": "about:blank",
            "title": self.title(),
            "status": status.as_u16(),
            "detail": self.to_string(),
        });
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<InvalidAmount> for Problem {
    fn from(error: InvalidAmount) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<InvalidTxId> for Problem {
    fn from(error: InvalidTxId) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge,
            _ => Self::Malformed(rejection.body_text()),
        }
    }
}
