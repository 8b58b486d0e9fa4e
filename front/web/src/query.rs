//! Query parameters of a page, read leniently: what cannot be read counts as left out.

use std::convert::Infallible;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::WebError;

/// The parameters, or their defaults.
pub(crate) struct LenientQuery<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequestParts<S> for LenientQuery<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(Query::try_from_uri(&parts.uri).map(|Query(query)| query).unwrap_or_default()))
    }
}

/// Where a list goes on; what cannot be a cursor leads nowhere.
pub(crate) fn cursor<T: FromStr>(before: Option<&str>) -> Result<Option<T>, WebError> {
    before.map(|before| before.parse().map_err(|_| WebError::NotFound)).transpose()
}
