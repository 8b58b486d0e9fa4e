//! The query of an address, read with patience: what cannot be read was not asked for.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// What was asked for, or the default.
pub(crate) struct Asks<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequestParts<S> for Asks<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(Query::try_from_uri(&parts.uri).map(|Query(asked)| asked).unwrap_or_default()))
    }
}
