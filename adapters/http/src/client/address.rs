//! Where a peer listens for internal calls.

use std::fmt;
use std::str::FromStr;

use axum::http::Uri;
use axum::http::uri::{Authority, PathAndQuery, Scheme};

/// An address of the form `http://host:port`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PeerAddress(Authority);

/// Text that is no address of a peer; says what one looks like.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the address of a peer: write http://host:port, without a path, user or password")]
pub struct PeerAddressError(String);

impl FromStr for PeerAddress {
    type Err = PeerAddressError;

    fn from_str(text: &str) -> Result<Self, PeerAddressError> {
        let refused = || PeerAddressError(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| refused())?;
        let plain = uri.scheme() == Some(&Scheme::HTTP) && matches!(uri.path(), "" | "/") && uri.query().is_none();
        // Credentials in an address would end up in logs and metrics.
        let authority = uri.authority().filter(|authority| plain && !authority.as_str().contains('@'));
        let authority = authority.filter(|authority| !authority.host().is_empty());
        authority.cloned().map(Self).ok_or_else(refused)
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.0)
    }
}

impl PeerAddress {
    /// Where a question goes at this peer.
    pub(crate) fn uri(&self, path: &'static str) -> Result<Uri, axum::http::Error> {
        let path = PathAndQuery::from_static(path);
        Uri::builder().scheme(Scheme::HTTP).authority(self.0.clone()).path_and_query(path).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port_and_nothing_else() {
        for good in ["http://127.0.0.1:9001", "http://article-1.internal:80", "http://[::1]:7", "http://host"] {
            let address: PeerAddress = good.parse().unwrap();
            assert_eq!(address.to_string(), good);
            assert_eq!(address.uri("/a/b").unwrap().to_string(), format!("{good}/a/b"));
        }
        assert_eq!("http://host:1/".parse::<PeerAddress>().unwrap().to_string(), "http://host:1");
        for bad in [
            "",
            "host",
            "host:1",
            "https://host:1",
            "http://",
            "http://u:p@host:1",
            "http://host:1/a",
            "http://host?x",
            "/a",
        ] {
            assert!(bad.parse::<PeerAddress>().is_err(), "{bad}");
        }
    }
}
