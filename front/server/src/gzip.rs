//! Compression of answers: gzip, which every browser and every client takes.

use std::io::Write as _;

use axum::http::{HeaderMap, HeaderValue, header};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Shorter answers fit one packet either way.
pub const WORTH_BYTES: usize = 1_024;

/// What stands at the end of the entity tag of a compressed answer.
const TAG_END: &str = "-gzip\"";

/// How hard to try.
#[derive(Debug, Clone, Copy)]
pub enum Effort {
    /// Once for the life of the process.
    Asset,
    /// Once for many readers.
    Shared,
    /// For one reader.
    Single,
}

/// The text as gzip.
pub fn compress(text: &[u8], effort: Effort) -> Bytes {
    let level = match effort {
        Effort::Asset => Compression::best(),
        Effort::Shared => Compression::new(5),
        Effort::Single => Compression::fast(),
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 3), level);
    // Writing into memory cannot fail; should it, an empty body would show it at once.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default().into()
}

/// Whether the client takes gzip.
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        named && !parts.any(|part| part.replace(' ', "").trim_end_matches(['0', '.']) == "q=")
    })
}

/// The entity tag of an answer once it is compressed. A strong tag names one sequence of bytes, so the compressed one has
/// another; a weak tag stays as it is.
pub fn tag_of_compressed(tag: &HeaderValue) -> HeaderValue {
    let text = tag.to_str().unwrap_or_default();
    let Some(strong) = text.strip_suffix('"').filter(|text| text.starts_with('"')) else { return tag.clone() };
    HeaderValue::from_str(&format!("{strong}{TAG_END}")).unwrap_or_else(|_| tag.clone())
}

/// What a tag names before its closing quote, however the answer was sent that had it.
pub fn uncompressed_tag(tag: &str) -> &str {
    tag.strip_suffix(TAG_END).or_else(|| tag.strip_suffix('"')).unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strong_tag_names_one_sequence_of_bytes() {
        let compressed = |tag: &'static str| tag_of_compressed(&HeaderValue::from_static(tag));
        assert_eq!(
            (compressed("\"1.0.0.0\""), compressed("W/\"abc\"")),
            ("\"1.0.0.0-gzip\"".parse().unwrap(), "W/\"abc\"".parse().unwrap())
        );
        for tag in ["\"1.0.0.0\"", "\"1.0.0.0-gzip\""] {
            assert_eq!(uncompressed_tag(tag), "\"1.0.0.0");
        }
    }

    #[test]
    fn who_does_not_take_gzip_gets_none() {
        let accepted = |value: &'static str| {
            is_accepted(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.parse().unwrap())]))
        };
        assert!(accepted("gzip, deflate, br") && accepted("br;q=1.0, gzip;q=0.8") && accepted("*"));
        assert!(!accepted("br") && !accepted("gzip;q=0") && !accepted("gzip; q=0.000") && !accepted("identity"));
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
