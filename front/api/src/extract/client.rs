//! Where a request comes from: the peer of its connection, and behind trusted proxies the client they tell of. Worked out
//! only for handlers that ask.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::request::Parts;

use crate::TrustedProxies;
use crate::state::Shared;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The other end of a request's connection, put beside every request by the accept loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The client's address.
pub(super) fn address<T>(parts: &Parts, api: &Shared<T>) -> IpAddr {
    client_address(parts, &api.limits.trusted_proxies)
}

/// Where a request comes from, as far as `proxies` are believed. A router that is not served by our accept loop knows no
/// peers: all its clients are one.
pub fn client_address(parts: &Parts, proxies: &TrustedProxies) -> IpAddr {
    let peer = parts.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    let forwarded = parts.headers.get_all(FORWARDED_FOR).iter().map(|value| value.as_bytes());
    proxies.client(peer, forwarded)
}
