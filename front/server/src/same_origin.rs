//! Whether a request comes from our own pages. Browsers send cookies along by themselves, so whatever changes something by
//! a cookie is believed only if the browser says so; silence is no.

use axum::http::{HeaderMap, header};

/// Whether a browser says that our own page, or the person at the address bar, sent the request.
pub fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if headers.contains_key("sec-fetch-site") {
        return matches!(text("sec-fetch-site"), Some("same-origin" | "none"));
    }
    let origin = text(header::ORIGIN.as_str()).and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    matches!((origin, text(header::HOST.as_str())), (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_are_believed() {
        let from = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_same_origin(&HeaderMap::from_iter(pairs.collect::<Vec<_>>()))
        };
        assert!(from(&[("sec-fetch-site", "same-origin")]));
        assert!(from(&[("sec-fetch-site", "none")]));
        assert!(from(&[("origin", "https://board.example"), ("host", "Board.example")]));
        assert!(from(&[("origin", "http://127.0.0.1:8080"), ("host", "127.0.0.1:8080")]));
        assert!(!from(&[("sec-fetch-site", "cross-site"), ("origin", "http://a"), ("host", "a")]));
        assert!(!from(&[("sec-fetch-site", "same-site")]));
        assert!(!from(&[("origin", "https://evil.example"), ("host", "board.example")]));
        assert!(!from(&[("origin", "null"), ("host", "board.example")]));
        assert!(!from(&[("host", "board.example")]));
    }
}
