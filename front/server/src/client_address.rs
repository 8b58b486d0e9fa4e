//! Where a request comes from: the peer of its connection, and behind trusted proxies the client they tell of.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::{Extensions, HeaderMap};

use crate::TrustedProxies;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The other end of a request's connection, put beside every request by the accept loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Where a request comes from, as far as `trusted` proxies are believed. A router that is not served by [`crate::Server`]
/// knows no peers: all its clients are one.
pub fn client_address(extensions: &Extensions, headers: &HeaderMap, trusted: &TrustedProxies) -> IpAddr {
    let forwarded = headers.get_all(FORWARDED_FOR).iter().map(|value| value.as_bytes());
    trusted.client(peer(extensions), forwarded)
}

/// The other end of the connection.
pub(crate) fn peer(extensions: &Extensions) -> IpAddr {
    extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0)
}
