//! Addresses whose percent-encoded bytes are no text. Handlers read segments as text, and the library would refuse such an
//! address in words of its own; so it reaches them with U+FFFD in the place of what cannot be read, which names nothing.

use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The address to go on with, where the one that was sent cannot be read.
pub(super) fn readable(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if !path.contains('%') || percent_decode_str(path).decode_utf8().is_ok() {
        return None;
    }
    // Segment by segment: a `%2F` is a part of one, and does not begin another.
    let segments = path.split('/').map(|segment| {
        let text = percent_decode_str(segment).decode_utf8_lossy();
        utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string()
    });
    let path = segments.collect::<Vec<_>>().join("/");
    let address = uri.query().map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(address).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str) -> Option<String> {
        readable(&address.parse().unwrap()).map(|uri| uri.to_string())
    }

    #[test]
    fn what_is_no_text_names_nothing_and_all_else_is_as_it_was() {
        assert_eq!(read("/b/%ff?page=2").as_deref(), Some("/b/%EF%BF%BD?page=2"));
        assert_eq!(read("/b/%ff%2Fx/write").as_deref(), Some("/b/%EF%BF%BD%2Fx/write"));
        assert_eq!(read("/b/%C0%80").as_deref(), Some("/b/%EF%BF%BD%EF%BF%BD"));
        for address in ["/", "/b/%EC%9E%90%EC%9C%A0", "/b/100%25", "/a?q=%ff", "/b/%zz"] {
            assert_eq!(read(address), None, "{address}");
        }
    }
}
