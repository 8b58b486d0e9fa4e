//! What is searched for, as its query says.

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use madang_board::MemberId;
use madang_kernel::Timestamp;
use madang_search::{Cursor, Filters, Kind, LIMIT_DEFAULT, LIMIT_MAX, Order, Query, SearchRequest};
use serde::Deserialize as _;
use serde::de::value::{Error as NotOne, StringDeserializer};

use super::list_query::{Pairs, board, integer};
use crate::ApiError;

/// A search, checked.
#[derive(Debug)]
pub(crate) struct SearchQuery(pub(crate) SearchRequest);

impl<S: Send + Sync> FromRequestParts<S> for SearchQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Self::parse(&parts.uri)
    }
}

impl SearchQuery {
    fn parse(uri: &Uri) -> Result<Self, ApiError> {
        let pairs = Pairs::of(uri)?;
        let typed = pairs.one("q")?.ok_or(ApiError::Malformed("q, what to search for, is missing.".into()))?;
        let kind = match pairs.one("kind")? {
            None | Some("all") => None,
            Some("article") => Some(Kind::Article),
            Some("comment") => Some(Kind::Comment),
            Some(_) => return Err(ApiError::Malformed("kind must be article, comment or all.".into())),
        };
        let order = match pairs.one("sort")? {
            None | Some("relevance") => Order::Relevance,
            Some("newest") => Order::Newest,
            Some(_) => return Err(ApiError::Malformed("sort must be relevance or newest.".into())),
        };
        let after = pairs.one("after")?.map(str::parse::<Cursor>).transpose();
        let after = after.map_err(|refusal| ApiError::Malformed(format!("{refusal}.").into()))?;
        if after.is_some_and(|after| after.order() != order) {
            return Err(ApiError::Malformed("after is a cursor of a list that was sorted differently.".into()));
        }
        let filters = Filters {
            kind,
            board_id: board(&pairs)?,
            writer_id: writer(&pairs)?,
            since: moment(&pairs, "since")?,
            until: moment(&pairs, "until")?,
        };
        let limit = limit(pairs.one("limit")?)?;
        Ok(Self(SearchRequest { query: Query::parse(typed)?, filters, order, after, limit }))
    }
}

fn writer(pairs: &Pairs) -> Result<Option<MemberId>, ApiError> {
    let not_one = |_| ApiError::Malformed("writer_id must be an id.".into());
    pairs.one("writer_id")?.map(|text| text.parse().map_err(not_one)).transpose()
}

fn moment(pairs: &Pairs, name: &'static str) -> Result<Option<Timestamp>, ApiError> {
    let not_one = || ApiError::Malformed(format!("{name} must be a moment as in 2026-03-01T09:30:00Z.").into());
    // A plus that was not escaped arrives as a space.
    let read = |text: &str| {
        let text = text.replace(' ', "+");
        Timestamp::deserialize(StringDeserializer::<NotOne>::new(text)).map_err(|_| not_one())
    };
    pairs.one(name)?.map(read).transpose()
}

fn limit(text: Option<&str>) -> Result<usize, ApiError> {
    let Some(text) = text else { return Ok(LIMIT_DEFAULT) };
    let limit = usize::try_from(integer("limit", text)?).ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
    limit.ok_or_else(|| ApiError::invalid("limit", format!("must be from 1 to {LIMIT_MAX}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<SearchRequest, u16> {
        let uri = format!("/x?{query}").parse::<Uri>().unwrap();
        SearchQuery::parse(&uri).map(|parsed| parsed.0).map_err(|error| error.status().as_u16())
    }

    #[test]
    fn a_search_is_what_its_query_says() {
        let plain = parse("q=%EB%8C%80%ED%95%99%EA%B5%90").unwrap();
        assert_eq!((plain.filters, plain.order, plain.limit), (Filters::default(), Order::Relevance, LIMIT_DEFAULT));
        let asked = parse(
            "q=a&kind=comment&board_id=7&writer_id=8&since=2026-03-01T00:00:00Z&until=2026-03-02T09:00:00%2B09:00\
             &sort=newest&limit=50&after=n.30.99",
        )
        .unwrap();
        assert_eq!(asked.filters.kind, Some(Kind::Comment));
        assert_eq!(asked.filters.until.unwrap().as_millis() - asked.filters.since.unwrap().as_millis(), 86_400_000);
        assert_eq!((asked.after, asked.limit), (Some(Cursor::Newest { depth: 30, id: 99 }), 50));
        assert_eq!(parse("q=a&until=2026-03-02T09:00:00+09:00").unwrap().filters.until, asked.filters.until);
    }

    #[test]
    fn what_cannot_be_read_is_400_and_what_is_out_of_range_422() {
        for query in [
            "",
            "kind=all",
            "q=a&q=b",
            "q=a&kind=board",
            "q=a&sort=oldest",
            "q=a&board_id=x",
            "q=a&writer_id=0",
            "q=a&since=yesterday",
            "q=a&until=2026",
            "q=a&limit=x",
            "q=a&after=x",
            "q=a&after=n.1.1",
            "q=a&sort=newest&after=r.1.0.1",
        ] {
            assert_eq!(parse(query).unwrap_err(), 400, "{query}");
        }
        let long = format!("q={}", "x".repeat(101));
        for query in ["q=", "q=%20", "q=a&limit=0", "q=a&limit=51", "q=a&limit=99999999999999999999", &long] {
            assert_eq!(parse(query).unwrap_err(), 422, "{query}");
        }
    }
}
