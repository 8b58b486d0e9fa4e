//! The two ways to ask for a list of articles: by page number, or by a cursor.

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use madang_kernel::{ArticleId, PageNumber, PageSize};

use crate::ApiError;

/// Far more than a list takes; a bound on the work done before the query is refused.
const PAIRS_MAX: usize = 32;

/// Which part of a list is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ListQuery {
    /// `page` and `page_size`, or nothing.
    Page(PageNumber, PageSize),
    /// `before` and `limit`.
    Scroll(Option<ArticleId>, PageSize),
}

impl<S: Send + Sync> FromRequestParts<S> for ListQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Self::parse(&parts.uri)
    }
}

impl ListQuery {
    fn parse(uri: &Uri) -> Result<Self, ApiError> {
        let pairs = Pairs::of(uri)?;
        let (page, page_size) = (pairs.one("page")?, pairs.one("page_size")?);
        let (before, limit) = (pairs.one("before")?, pairs.one("limit")?);
        let numbered = page.is_some() || page_size.is_some();
        if before.is_none() && limit.is_none() {
            let page = page.map_or(Ok(PageNumber::FIRST), |text| Ok(PageNumber::new("page", integer("page", text)?)?));
            return page.and_then(|page| Ok(Self::Page(page, size("page_size", page_size)?)));
        }
        if numbered {
            let detail = "page and page_size belong to one kind of list, before and limit to another: choose one";
            return Err(ApiError::Malformed(detail.into()));
        }
        let before = before.map(|text| text.parse().map_err(|_| ApiError::Malformed("before is not an id".into())));
        Ok(Self::Scroll(before.transpose()?, size("limit", limit)?))
    }
}

struct Pairs(Vec<(String, String)>);

impl Pairs {
    fn of(uri: &Uri) -> Result<Self, ApiError> {
        if uri.query().is_some_and(|query| query.bytes().filter(|byte| *byte == b'&').count() >= PAIRS_MAX) {
            return Err(ApiError::Malformed("the query has too many parts".into()));
        }
        let Query(pairs) =
            Query::try_from_uri(uri).map_err(|_| ApiError::Malformed("the query cannot be read".into()))?;
        Ok(Self(pairs))
    }

    fn one(&self, name: &'static str) -> Result<Option<&str>, ApiError> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(ApiError::Malformed(format!("{name} is given twice").into())),
            (value, None) => Ok(value),
        }
    }
}

fn size(name: &'static str, text: Option<&str>) -> Result<PageSize, ApiError> {
    text.map_or(Ok(PageSize::DEFAULT), |text| Ok(PageSize::new(name, integer(name, text)?)?))
}

/// A whole number, however large: what no integer holds is out of range, not unreadable.
fn integer(name: &'static str, text: &str) -> Result<i64, ApiError> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ApiError::Malformed(format!("{name} is not a whole number").into()));
    }
    Ok(text.parse().unwrap_or(if negative { i64::MIN } else { i64::MAX }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<ListQuery, u16> {
        let uri = format!("/x?{query}").parse::<Uri>().unwrap();
        ListQuery::parse(&uri).map_err(|error| error.status().as_u16())
    }

    #[test]
    fn a_list_is_asked_by_page_or_by_cursor() {
        let size = |value| PageSize::new("size", value).unwrap();
        let page = |value| PageNumber::new("page", value).unwrap();
        assert_eq!(parse(""), Ok(ListQuery::Page(page(1), size(30))));
        assert_eq!(parse("page=3&page_size=100&utm=x"), Ok(ListQuery::Page(page(3), size(100))));
        assert_eq!(parse("page=1000000000"), Ok(ListQuery::Page(page(1_000_000_000), size(30))));
        assert_eq!(parse("limit=5"), Ok(ListQuery::Scroll(None, size(5))));
        assert_eq!(parse("before=7"), Ok(ListQuery::Scroll(Some("7".parse().unwrap()), size(30))));
    }

    #[test]
    fn what_cannot_be_read_is_400_and_what_is_out_of_range_422() {
        for query in
            ["page=abc", "page=", "page=1.5", "page=%2B1", "page_size=x", "before=abc", "before=0", "before=-1"]
        {
            assert_eq!(parse(query), Err(400), "{query}");
        }
        for query in ["page=1&page=2", "page=1&before=5", "page_size=5&limit=5", "limit=", "page=1e3", "page=0x10"] {
            assert_eq!(parse(query), Err(400), "{query}");
        }
        for query in ["page=0", "page=-1", "page=1000000001", "page=99999999999999999999", "page_size=0"] {
            assert_eq!(parse(query), Err(422), "{query}");
        }
        for query in ["page_size=101", "page_size=-1", "limit=0", "limit=101", "page=-99999999999999999999"] {
            assert_eq!(parse(query), Err(422), "{query}");
        }
    }
}
