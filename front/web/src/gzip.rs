//! Compression of answers: gzip, which every browser takes.

use std::io::Write as _;

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Shorter answers fit one packet either way.
pub(crate) const WORTH_BYTES: usize = 1_024;

/// How hard to try.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effort {
    /// Once for the life of the process.
    Asset,
    /// Once for many readers.
    Shared,
    /// For one reader.
    Single,
}

/// The text as gzip.
pub(crate) fn compress(text: &[u8], effort: Effort) -> Bytes {
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
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        named && !parts.any(|part| part.replace(' ', "").trim_end_matches(['0', '.']) == "q=")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
