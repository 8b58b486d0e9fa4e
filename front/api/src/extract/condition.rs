//! Conditional changes: `If-Match` spares what another has changed meanwhile.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use madang_server::gzip;

use crate::ApiError;

/// More tags than anyone has versions in mind.
const TAGS_MAX: usize = 16;

/// Versions start at 1, so a change that expects this one fails, after everything else about it was checked.
const NO_VERSION: u64 = 0;

/// The version that an edit or a deletion was decided on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// Whatever it is now: no header, or `*`.
    Any,
    /// One of these; none of them when the tags given are not ours or weak, or when only what is not there yet may be
    /// changed (`If-None-Match: *`).
    Versions(Vec<u64>),
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Self::parse(&parts.headers)
    }
}

impl IfMatch {
    /// The version the change expects. Of several, the present one if it is among them, which is asked for only then: the
    /// change itself checks it again.
    pub(crate) async fn expected(
        &self,
        present: impl Future<Output = Result<u64, ApiError>>,
    ) -> Result<Option<u64>, ApiError> {
        match self {
            Self::Any => Ok(None),
            Self::Versions(versions) => match versions.as_slice() {
                [] => Ok(Some(NO_VERSION)),
                [version] => Ok(Some(*version)),
                several => {
                    let present = present.await?;
                    Ok(Some(if several.contains(&present) { present } else { NO_VERSION }))
                }
            },
        }
    }

    pub(super) fn parse(headers: &HeaderMap) -> Result<Self, ApiError> {
        let given = Self::given(headers)?;
        let is_for_new = headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes().trim_ascii() == b"*");
        Ok(if is_for_new { Self::Versions(Vec::new()) } else { given })
    }

    fn given(headers: &HeaderMap) -> Result<Self, ApiError> {
        let name = header::IF_MATCH;
        let unreadable = || ApiError::Malformed("If-Match must be * or a list of ETags in double quotes.".into());
        let mut tags = Vec::new();
        for value in headers.get_all(&name) {
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

/// The version in a tag of ours, `"<version>.<counts>"`, whether the answer that had it was compressed or not. The counts do
/// not matter here: a like in between is no conflict. A weak tag vouches for no exact version, so it matches none.
fn version_of(tag: &str) -> Option<u64> {
    gzip::uncompressed_tag(tag).strip_prefix('"')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn if_match(values: &[&str]) -> Result<IfMatch, u16> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::IF_MATCH, HeaderValue::from_str(value).unwrap());
        }
        IfMatch::parse(&headers).map_err(|error| error.status().as_u16())
    }

    #[test]
    fn an_edit_names_the_versions_it_was_made_from() {
        assert_eq!(if_match(&[]), Ok(IfMatch::Any));
        assert_eq!(if_match(&["*"]), Ok(IfMatch::Any));
        assert_eq!(if_match(&["\"3.0.1.2\""]), Ok(IfMatch::Versions(vec![3])));
        assert_eq!(if_match(&["\"3.0.1.2-gzip\""]), Ok(IfMatch::Versions(vec![3])));
        assert_eq!(if_match(&["\"1-gzip\""]), Ok(IfMatch::Versions(vec![1])));
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
    fn what_may_only_be_made_anew_is_not_changed() {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        assert_eq!(IfMatch::parse(&headers).unwrap(), IfMatch::Versions(vec![]));
        headers.insert(header::IF_MATCH, HeaderValue::from_static("\"3\""));
        assert_eq!(IfMatch::parse(&headers).unwrap(), IfMatch::Versions(vec![]));
    }

    #[tokio::test]
    async fn a_change_expects_the_present_version_where_several_would_do() {
        let expected =
            async |versions: &[u64]| IfMatch::Versions(versions.to_vec()).expected(async { Ok(3) }).await.unwrap();
        assert_eq!(IfMatch::Any.expected(async { panic!("nobody needs it") }).await.unwrap(), None);
        assert_eq!((expected(&[2]).await, expected(&[2, 3]).await), (Some(2), Some(3)));
        assert_eq!((expected(&[]).await, expected(&[1, 2]).await), (Some(0), Some(0)), "no version that there is");
    }
}
