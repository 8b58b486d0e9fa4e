//! Whether a request that changes something comes from our own pages: browsers say so, and silence is no.

use axum::http::{HeaderMap, header};

/// Whether a browser says that our own page, or the person at the address bar, sent the request.
pub(crate) fn is_ours(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if headers.contains_key("sec-fetch-site") {
        return matches!(text("sec-fetch-site"), Some("same-origin" | "none"));
    }
    let origin = text("origin").and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    matches!((origin, host), (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_change_something() {
        let from = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_ours(&HeaderMap::from_iter(pairs.collect::<Vec<_>>()))
        };
        assert!(from(&[("sec-fetch-site", "same-origin")]) && from(&[("sec-fetch-site", "none")]));
        assert!(from(&[("origin", "https://board.example"), ("host", "Board.example")]));
        assert!(!from(&[("sec-fetch-site", "cross-site"), ("origin", "http://a"), ("host", "a")]));
        assert!(!from(&[("sec-fetch-site", "same-site")]));
        assert!(!from(&[("origin", "https://evil.example"), ("host", "board.example")]));
        assert!(!from(&[("origin", "null"), ("host", "board.example")]) && !from(&[("host", "board.example")]));
    }
}
