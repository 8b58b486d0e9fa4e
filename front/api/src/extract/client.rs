//! Where a request comes from: the peer of its connection, and behind trusted proxies the client they tell of. Worked out
//! only for handlers that ask.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

use crate::TrustedProxies;
use crate::state::Shared;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The other end of a request's connection, put beside every request by the accept loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The client's address.
pub(super) fn address<T>(parts: &Parts, api: &Shared<T>) -> IpAddr {
    client_of(&parts.extensions, &parts.headers, &api.limits.trusted_proxies)
}

/// Where a request comes from, as far as `proxies` are believed. A router that is not served by our accept loop knows no
/// peers: all its clients are one.
pub fn client_address(parts: &Parts, proxies: &TrustedProxies) -> IpAddr {
    client_of(&parts.extensions, &parts.headers, proxies)
}

/// The same before there are parts.
pub(crate) fn client_of(extensions: &Extensions, headers: &HeaderMap, trusted: &TrustedProxies) -> IpAddr {
    let peer = extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    let forwarded = headers.get_all(FORWARDED_FOR).iter().map(|value| value.as_bytes());
    trusted.client(peer, forwarded)
}
