//! Conditional requests: `If-None-Match` spares an answer already seen, `If-Match` spares an edit made by another.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::ApiError;

/// More tags than anyone has versions in mind.
const TAGS_MAX: usize = 16;

/// The answers the caller has already.
pub(crate) struct IfNoneMatch(pub(super) Option<HeaderValue>);

impl<S: Send + Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.headers.get(header::IF_NONE_MATCH).cloned()))
    }
}

impl IfNoneMatch {
    /// Whether the caller has this one. The comparison is weak, as for any cache; what cannot be read matches nothing.
    pub(crate) fn matches(&self, tag: &str) -> bool {
        let Some(list) = self.0.as_ref().and_then(|value| value.to_str().ok()) else {
            return false;
        };
        list.trim() == "*"
            || list.split(',').any(|seen| {
                let seen = seen.trim();
                seen.strip_prefix("W/").unwrap_or(seen) == tag
            })
    }
}

/// The version an edit was made from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// Whatever it is now: no header, or `*`.
    Any,
    /// One of these; none of them when the tags given are not ours or weak.
    Versions(Vec<u64>),
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Self::parse(&parts.headers, &header::IF_MATCH)
    }
}

impl IfMatch {
    pub(super) fn parse(headers: &HeaderMap, name: &HeaderName) -> Result<Self, ApiError> {
        let unreadable = || ApiError::Malformed("If-Match is * or a list of ETags in quotes".into());
        let mut tags = Vec::new();
        for value in headers.get_all(name) {
            let text = value.to_str().map_err(|_| unreadable())?;
            if text.trim() == "*" {
                return Ok(Self::Any);
            }
            tags.extend(text.split(',').map(str::trim).filter(|tag| !tag.is_empty()));
        }
        if tags.is_empty() {
            return if headers.contains_key(name) { Err(unreadable()) } else { Ok(Self::Any) };
        }
        if tags.len() > TAGS_MAX || !tags.iter().all(|tag| is_tag(tag)) {
            return Err(unreadable());
        }
        Ok(Self::Versions(tags.into_iter().filter_map(version_of).collect()))
    }
}

fn is_tag(text: &str) -> bool {
    let opaque = text.strip_prefix("W/").unwrap_or(text);
    opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"') && !opaque[1..opaque.len() - 1].contains('"')
}

/// The version in a tag of ours, `"<version>.<counts>"`. The counts do not matter to an edit: a like in between is no
/// conflict. A weak tag vouches for no exact version, so it matches none.
fn version_of(tag: &str) -> Option<u64> {
    tag.strip_prefix('"')?.strip_suffix('"')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn if_match(values: &[&str]) -> Result<IfMatch, u16> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::IF_MATCH, HeaderValue::from_str(value).unwrap());
        }
        IfMatch::parse(&headers, &header::IF_MATCH).map_err(|error| error.status().as_u16())
    }

    #[test]
    fn an_edit_names_the_versions_it_was_made_from() {
        assert_eq!(if_match(&[]), Ok(IfMatch::Any));
        assert_eq!(if_match(&["*"]), Ok(IfMatch::Any));
        assert_eq!(if_match(&["\"3.0.1.2\""]), Ok(IfMatch::Versions(vec![3])));
        assert_eq!(if_match(&["\"3.0.0.0\", \"4.0.0.0\""]), Ok(IfMatch::Versions(vec![3, 4])));
        assert_eq!(if_match(&["\"3.0.0.0\"", "\"4.0.0.0\""]), Ok(IfMatch::Versions(vec![3, 4])));
    }

    #[test]
    fn weak_and_foreign_tags_match_no_version() {
        assert_eq!(if_match(&["W/\"3.0.0.0\""]), Ok(IfMatch::Versions(vec![])));
        assert_eq!(if_match(&["\"abc\""]), Ok(IfMatch::Versions(vec![])));
    }

    #[test]
    fn what_is_no_tag_is_malformed() {
        for value in ["3", "\"3", "3\"", "", "\"", "\"3\"\"4\"", "w/\"3\""] {
            assert_eq!(if_match(&[value]), Err(400), "{value:?}");
        }
    }

    #[test]
    fn a_cache_compares_weakly() {
        let seen = |value: &'static str| IfNoneMatch(Some(HeaderValue::from_static(value)));
        assert!(seen("\"1.0.0.0\"").matches("\"1.0.0.0\""));
        assert!(seen("\"0\", W/\"1.0.0.0\"").matches("\"1.0.0.0\""));
        assert!(seen("*").matches("\"1.0.0.0\""));
        assert!(!seen("\"2.0.0.0\"").matches("\"1.0.0.0\""));
        assert!(!IfNoneMatch(None).matches("\"1.0.0.0\""));
    }
}
