//! Problems as RFC 9457 writes them: the one shape of every error body.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use madang_kernel::FieldError;
use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong, for a program and for a person.
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem<'a> {
    /// Names the kind of problem; stable, meant to be compared.
    #[serde(rename = "type")]
    #[schema(example = "urn:madang:problem:invalid")]
    pub kind: &'a str,
    /// The kind in words.
    #[schema(example = "Invalid field")]
    pub title: &'a str,
    /// The HTTP status, repeated.
    #[schema(example = 422)]
    pub status: u16,
    /// What went wrong this time.
    #[schema(example = "title must have 1 to 100 characters")]
    pub detail: &'a str,
    /// Each field that is not acceptable.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    pub errors: &'a [FieldProblem],
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldProblem {
    /// The field as the caller spelled it; empty when the body as a whole is meant.
    #[schema(value_type = String, example = "title")]
    pub field: Cow<'static, str>,
    /// What is wrong with it.
    #[schema(example = "must have 1 to 100 characters")]
    pub message: String,
}

impl FieldProblem {
    /// A field and what is wrong with it.
    pub fn new(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl std::fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gap = if self.field.is_empty() { "" } else { " " };
        write!(f, "{}{gap}{}", self.field, self.message)
    }
}

impl From<FieldError> for FieldProblem {
    fn from(error: FieldError) -> Self {
        Self::new(error.field, error.message)
    }
}

impl Problem<'_> {
    /// The answer that carries the problem.
    pub fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// Whether a page is wanted instead of a problem: browsers ask for HTML by name when somebody opens a page or sends a form;
/// scripts and programs do not.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).map(HeaderValue::as_bytes).unwrap_or_default();
    accepted.windows(b"text/html".len()).any(|part| part == b"text/html")
}
