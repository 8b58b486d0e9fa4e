//! Ids of requests: in every answer, in the lines that the log has of it, and in calls to other processes for it. A person who
//! reports a failure names it, and an operator finds the lines.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use madang_kernel::{REQUEST_ID_HEADER, RequestId};

use crate::TrustedProxies;
use crate::client_address::peer;

const NAME: HeaderName = HeaderName::from_static(REQUEST_ID_HEADER);

/// Gives requests their ids.
pub(crate) struct RequestIds {
    /// Chosen at the start: ids of two processes, or of two runs, do not meet.
    seed: u64,
    given: AtomicU64,
}

impl Default for RequestIds {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(std::process::id()), given: AtomicU64::new(0) }
    }
}

impl RequestIds {
    /// The id of a request: the one that a trusted proxy gave it, so that both logs speak of the same, or a new one. What
    /// anybody else sends is not repeated.
    pub(crate) fn of(&self, request: &Request, trusted: &TrustedProxies) -> RequestId {
        let given = request.headers().get(&NAME).filter(|_| trusted.trusts(peer(request.extensions()).to_canonical()));
        given.and_then(|value| RequestId::parse(value.as_bytes())).unwrap_or_else(|| self.next())
    }

    fn next(&self) -> RequestId {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        RequestId::from_number(scattered(self.seed.wrapping_add(number)))
    }
}

/// Tells whoever asked.
pub(crate) fn tell(id: &RequestId, headers: &mut HeaderMap) {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        headers.insert(NAME, value);
    }
}

/// SplitMix64's finisher: different for different numbers, and not in their order, so that nobody counts requests by it.
fn scattered(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use axum::body::Body;

    use super::*;
    use crate::client_address::Peer;

    fn id(trusted: &str, from: [u8; 4], given: &[u8]) -> String {
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(NAME, HeaderValue::from_bytes(given).unwrap());
        request.extensions_mut().insert(Peer(from.into()));
        RequestIds::default().of(&request, &trusted.parse().unwrap()).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_names_a_request_and_only_by_what_fits_a_line() {
        assert_eq!(id("10.0.0.0/8", [10, 0, 0, 1], b"abc-1"), "abc-1");
        for (from, given) in [([192, 0, 2, 1], &b"abc-1"[..]), ([10, 0, 0, 1], b"a b"), ([10, 0, 0, 1], b"\xff")] {
            let id = id("10.0.0.0/8", from, given);
            assert!(id.len() == 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
        }
        assert_ne!(id("", [10, 0, 0, 1], b"abc-1"), "abc-1", "nobody is trusted unless configured");
    }

    #[test]
    fn no_id_comes_twice() {
        let ids = RequestIds::default();
        let given: HashSet<String> = (0..10_000).map(|_| ids.next().to_string()).collect();
        assert_eq!(given.len(), 10_000);
    }
}
