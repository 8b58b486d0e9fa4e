//! Where a request comes from, for what is limited by address.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use madang_server::client_address;

use crate::state::Shared;

/// The address of whoever asks, as far as proxies are trusted.
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl<T: Send + Sync> FromRequestParts<Shared<T>> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<T>) -> Result<Self, Infallible> {
        Ok(Self(client_address(&parts.extensions, &parts.headers, &api.policy.trusted_proxies)))
    }
}
