//! Whoever reads something: which answers they have already (`If-None-Match`), and whether they take one compressed.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use madang_server::gzip;

/// What is known of a reader before anything is read.
pub(crate) struct Reader {
    /// The tags of the answers they have.
    seen: Option<HeaderValue>,
    pub(crate) takes_gzip: bool,
}

/// In which form a reader has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Compressed,
}

impl<S: Send + Sync> FromRequestParts<S> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

impl Reader {
    /// The reader who sent these headers.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut lines = headers.get_all(header::IF_NONE_MATCH).iter();
        let first = lines.next().cloned();
        // Hardly anybody spreads a list over several lines, which mean what one line would.
        let seen = lines.fold(first, |seen, line| {
            let list = [seen?.as_bytes(), line.as_bytes()].join(&b", "[..]);
            HeaderValue::from_bytes(&list).ok()
        });
        Self { seen, takes_gzip: gzip::is_accepted(headers) }
    }

    /// Whether any answer will do, as long as there is one: `*`.
    pub(crate) fn has_any(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.as_bytes().trim_ascii() == b"*")
    }

    /// In which form the reader has the answer of this tag. The comparison is weak, as for any cache; what cannot be read
    /// matches nothing.
    pub(crate) fn has(&self, tag: &str) -> Option<Form> {
        let list = self.seen.as_ref()?.to_str().ok()?;
        if list.trim() == "*" {
            return Some(Form::Plain);
        }
        let opaque = |tag| str::strip_prefix(tag, "W/").unwrap_or(tag);
        let tag = opaque(tag);
        list.split(',').map(|seen| opaque(seen.trim())).find_map(|seen| {
            if seen == tag {
                return Some(Form::Plain);
            }
            (seen.len() > tag.len() && gzip::uncompressed_tag(seen) == gzip::uncompressed_tag(tag))
                .then_some(Form::Compressed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(lines: &[&'static str], tag: &str) -> Option<Form> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(line));
        }
        Reader::of(&headers).has(tag)
    }

    #[test]
    fn a_cache_compares_weakly() {
        const TAG: &str = "\"1.0.0.0\"";
        assert_eq!(has(&["\"1.0.0.0\""], TAG), Some(Form::Plain));
        assert_eq!(has(&["\"0\", W/\"1.0.0.0\""], TAG), Some(Form::Plain));
        assert_eq!(has(&["\"1.0.0.0-gzip\""], TAG), Some(Form::Compressed));
        assert_eq!(has(&["\"2.0.0.0\""], TAG), None);
        assert_eq!(has(&["\"2.0.0.0-gzip\""], TAG), None);
        assert_eq!(has(&[], TAG), None);
        assert_eq!(has(&["W/\"abc\""], "W/\"abc\""), Some(Form::Plain));
    }

    #[test]
    fn a_list_over_several_lines_is_one_list() {
        assert_eq!(has(&["\"1\"", "\"2\"", "\"3\""], "\"2\""), Some(Form::Plain));
        assert_eq!(has(&["\"1\"", "\"2\"", "\"3\""], "\"4\""), None);
    }

    #[test]
    fn a_star_is_whatever_there_is() {
        assert_eq!(has(&["*"], "\"1\""), Some(Form::Plain));
        let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(" * "))]);
        assert!(Reader::of(&headers).has_any() && !Reader::of(&HeaderMap::new()).has_any());
    }
}
