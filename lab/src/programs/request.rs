//! What the programs take from a request. Whatever does not fit is a problem, never a text of the framework.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header;
use axum::http::request::Parts;

use super::problem::Problem;
use crate::domain::AccountId;

/// The account that a path names.
pub(crate) struct AccountPath(pub(crate) AccountId);

impl<S: Send + Sync> FromRequestParts<S> for AccountPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(id): Path<String> = Path::from_request_parts(parts, state)
            .await
            .map_err(|rejection| Problem::Malformed(rejection.body_text()))?;
        id.parse().map(Self).map_err(|error| Problem::NotFound(format!("{error}")))
    }
}

/// The body of a request that says that it is JSON.
pub(crate) struct JsonBody(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let told = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = told.and_then(|told| told.split(';').next()).unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            return Err(Problem::MediaType);
        }
        Ok(Self(Bytes::from_request(request, state).await?))
    }
}
