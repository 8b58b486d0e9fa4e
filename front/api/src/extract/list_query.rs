//! The two ways to ask for a list: by page number, or by a cursor.

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use madang_article_read::Rank;
use madang_board::{ActId, ArticleId, BoardId, CommentId, MemberId, ReportId};
use madang_kernel::{PageNumber, PageSize, Timestamp};

use crate::ApiError;

/// Far more than a list takes; a bound on the work done before the query is refused.
const PAIRS_MAX: usize = 32;

/// Where a cursor list goes on, as its query names it.
pub(crate) trait Cursor: Sized {
    /// The name in the query.
    const NAME: &'static str;
    /// What is said of text that is none.
    const REFUSAL: &'static str;

    /// Reads it, if it can be one.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! newest_first {
    ($($id:ident),*) => {$(
        impl Cursor for $id {
            const NAME: &'static str = "before";
            const REFUSAL: &'static str = "before must be an id.";

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

newest_first!(ActId, ArticleId, CommentId, ReportId);

/// By activity a list goes on after a moment and an article of that moment.
impl Cursor for Rank {
    const NAME: &'static str = "before";
    const REFUSAL: &'static str = "before must be what next said.";

    fn read(text: &str) -> Option<Self> {
        let (at, article) = text.split_once('-')?;
        Some(Self { at: Timestamp::from_millis(at.parse().ok()?), article_id: article.parse().ok()? })
    }
}

/// A place of a list by activity, as its cursor is written.
pub(crate) fn rank_cursor(Rank { at, article_id }: Rank) -> String {
    format!("{}-{article_id}", at.as_millis())
}

/// Which articles of a board are asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BoardArticlesQuery {
    /// By creation.
    Newest(ListQuery),
    /// By activity, which goes by cursor only.
    Active(Option<Rank>, PageSize),
}

impl<S: Send + Sync> FromRequestParts<S> for BoardArticlesQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let pairs = Pairs::of(&parts.uri)?;
        if !is_by_activity(&pairs)? {
            return ListQuery::parse(&parts.uri).map(Self::Newest);
        }
        if pairs.one("page")?.is_some() || pairs.one("page_size")?.is_some() {
            let detail = "By activity a list has no numbered pages: use before and limit.";
            return Err(ApiError::Malformed(detail.into()));
        }
        let ScrollQuery(before, size) = ScrollQuery::of(&pairs)?;
        Ok(Self::Active(before, size))
    }
}

/// Which articles of the site are asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SiteArticlesQuery {
    /// By creation.
    Newest(Option<ArticleId>, PageSize),
    /// By activity.
    Active(Option<Rank>, PageSize),
}

impl<S: Send + Sync> FromRequestParts<S> for SiteArticlesQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let pairs = Pairs::of(&parts.uri)?;
        if is_by_activity(&pairs)? {
            let ScrollQuery(before, size) = ScrollQuery::of(&pairs)?;
            return Ok(Self::Active(before, size));
        }
        let ScrollQuery(before, size) = ScrollQuery::of(&pairs)?;
        Ok(Self::Newest(before, size))
    }
}

fn is_by_activity(pairs: &Pairs) -> Result<bool, ApiError> {
    match pairs.one("sort")? {
        None | Some("newest") => Ok(false),
        Some("active") => Ok(true),
        Some(_) => Err(ApiError::Malformed("sort must be newest or active.".into())),
    }
}

/// Which reports are asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReportQuery {
    /// Those that wait, or those that are settled.
    pub(crate) open: bool,
    pub(crate) board: Option<BoardId>,
    pub(crate) before: Option<ReportId>,
    pub(crate) size: PageSize,
}

impl<S: Send + Sync> FromRequestParts<S> for ReportQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let pairs = Pairs::of(&parts.uri)?;
        let open = match pairs.one("open")? {
            None | Some("true") => true,
            Some("false") => false,
            Some(_) => return Err(ApiError::Malformed("open must be true or false.".into())),
        };
        let ScrollQuery(before, size) = ScrollQuery::of(&pairs)?;
        Ok(Self { open, board: board(&pairs)?, before, size })
    }
}

/// Which acts of moderators are asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ActQuery {
    pub(crate) board: Option<BoardId>,
    pub(crate) before: Option<ActId>,
    pub(crate) size: PageSize,
}

impl<S: Send + Sync> FromRequestParts<S> for ActQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let pairs = Pairs::of(&parts.uri)?;
        let ScrollQuery(before, size) = ScrollQuery::of(&pairs)?;
        Ok(Self { board: board(&pairs)?, before, size })
    }
}

pub(super) fn board(pairs: &Pairs) -> Result<Option<BoardId>, ApiError> {
    let not_one = |_| ApiError::Malformed("board_id must be an id.".into());
    pairs.one("board_id")?.map(|text| text.parse().map_err(not_one)).transpose()
}

impl Cursor for MemberId {
    const NAME: &'static str = "after";
    const REFUSAL: &'static str = "after must be an id.";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// The cursor of a list of comments, unread. What it means depends on the board, so its owner reads it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommentCursorText(pub(crate) String);

impl Cursor for CommentCursorText {
    const NAME: &'static str = "after";
    const REFUSAL: &'static str = "after is not a cursor of this list: use the value of `next` from the answer before.";

    fn read(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// Which part of a list is asked for, where both ways are open.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ListQuery<C = ArticleId> {
    /// `page` and `page_size`, or nothing.
    Page(PageNumber, PageSize),
    /// The cursor and `limit`.
    Scroll(Option<C>, PageSize),
}

impl<C: Cursor, S: Send + Sync> FromRequestParts<S> for ListQuery<C> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Self::parse(&parts.uri)
    }
}

impl<C: Cursor> ListQuery<C> {
    pub(super) fn parse(uri: &Uri) -> Result<Self, ApiError> {
        let pairs = Pairs::of(uri)?;
        let (page, page_size) = (pairs.one("page")?, pairs.one("page_size")?);
        if pairs.one(C::NAME)?.is_none() && pairs.one("limit")?.is_none() {
            let page = page.map_or(Ok(PageNumber::FIRST), |text| Ok(PageNumber::new("page", integer("page", text)?)?));
            return page.and_then(|page| Ok(Self::Page(page, size("page_size", page_size)?)));
        }
        if page.is_some() || page_size.is_some() {
            let name = C::NAME;
            let detail = format!(
                "Use page and page_size, or {name} and limit, but not both: these are two ways to read a list."
            );
            return Err(ApiError::Malformed(detail.into()));
        }
        let ScrollQuery(cursor, size) = ScrollQuery::of(&pairs)?;
        Ok(Self::Scroll(cursor, size))
    }
}

/// Which part of a list is asked for that goes by cursor only.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScrollQuery<C>(pub(crate) Option<C>, pub(crate) PageSize);

impl<C: Cursor, S: Send + Sync> FromRequestParts<S> for ScrollQuery<C> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        Self::of(&Pairs::of(&parts.uri)?)
    }
}

impl<C: Cursor> ScrollQuery<C> {
    fn of(pairs: &Pairs) -> Result<Self, ApiError> {
        let cursor = pairs.one(C::NAME)?.map(|text| C::read(text).ok_or(ApiError::Malformed(C::REFUSAL.into())));
        Ok(Self(cursor.transpose()?, size("limit", pairs.one("limit")?)?))
    }
}

pub(super) struct Pairs(Vec<(String, String)>);

impl Pairs {
    pub(super) fn of(uri: &Uri) -> Result<Self, ApiError> {
        if uri.query().is_some_and(|query| query.bytes().filter(|byte| *byte == b'&').count() >= PAIRS_MAX) {
            return Err(ApiError::Malformed("The query has too many parameters.".into()));
        }
        let Query(pairs) = Query::try_from_uri(uri)
            .map_err(|_| ApiError::Malformed("The query cannot be read. Check how it is encoded.".into()))?;
        Ok(Self(pairs))
    }

    pub(super) fn one(&self, name: &'static str) -> Result<Option<&str>, ApiError> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(ApiError::Malformed(format!("{name} is given more than once.").into())),
            (value, None) => Ok(value),
        }
    }
}

fn size(name: &'static str, text: Option<&str>) -> Result<PageSize, ApiError> {
    text.map_or(Ok(PageSize::DEFAULT), |text| Ok(PageSize::new(name, integer(name, text)?)?))
}

/// A whole number, however large: what no integer holds is out of range, not unreadable.
pub(super) fn integer(name: &'static str, text: &str) -> Result<i64, ApiError> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ApiError::Malformed(format!("{name} must be a whole number.").into()));
    }
    Ok(text.parse().unwrap_or(if negative { i64::MIN } else { i64::MAX }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<C: Cursor>(query: &str) -> Result<ListQuery<C>, u16> {
        let uri = format!("/x?{query}").parse::<Uri>().unwrap();
        ListQuery::parse(&uri).map_err(|error| error.status().as_u16())
    }

    fn articles(query: &str) -> Result<ListQuery, u16> {
        parse(query)
    }

    fn size(value: i64) -> PageSize {
        PageSize::new("size", value).unwrap()
    }

    #[test]
    fn a_list_is_asked_by_page_or_by_cursor() {
        let page = |value| PageNumber::new("page", value).unwrap();
        assert_eq!(articles(""), Ok(ListQuery::Page(page(1), size(30))));
        assert_eq!(articles("page=3&page_size=100&utm=x"), Ok(ListQuery::Page(page(3), size(100))));
        assert_eq!(articles("page=1000000000"), Ok(ListQuery::Page(page(1_000_000_000), size(30))));
        assert_eq!(articles("limit=5"), Ok(ListQuery::Scroll(None, size(5))));
        assert_eq!(articles("before=7"), Ok(ListQuery::Scroll(Some("7".parse().unwrap()), size(30))));
    }

    #[test]
    fn each_list_has_its_own_cursor() {
        let comments = |query| parse::<CommentCursorText>(query);
        let cursor = CommentCursorText("0000A.7".to_owned());
        assert_eq!(comments("after=0000A.7&limit=5"), Ok(ListQuery::Scroll(Some(cursor), size(5))));
        assert_eq!(comments("before=7"), Ok(ListQuery::Page(PageNumber::FIRST, size(30))), "no cursor of this list");
        assert_eq!(comments("after=7&page=1"), Err(400));
        assert_eq!(comments("after=7&after=8"), Err(400));
    }

    #[test]
    fn a_list_by_cursor_only_has_no_pages() {
        let likers = |query: &str| {
            let uri = format!("/x?{query}").parse::<Uri>().unwrap();
            let query = Pairs::of(&uri).and_then(|pairs| ScrollQuery::<MemberId>::of(&pairs));
            query.map_err(|error| error.status().as_u16())
        };
        assert_eq!(likers("page=3"), Ok(ScrollQuery(None, size(30))));
        assert_eq!(likers("after=7&limit=100"), Ok(ScrollQuery(Some("7".parse().unwrap()), size(100))));
        for (query, status) in
            [("after=x", 400), ("after=", 400), ("limit=x", 400), ("limit=0", 422), ("limit=101", 422)]
        {
            assert_eq!(likers(query), Err(status), "{query}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_400_and_what_is_out_of_range_422() {
        for query in
            ["page=abc", "page=", "page=1.5", "page=%2B1", "page_size=x", "before=abc", "before=0", "before=-1"]
        {
            assert_eq!(articles(query), Err(400), "{query}");
        }
        for query in ["page=1&page=2", "page=1&before=5", "page_size=5&limit=5", "limit=", "page=1e3", "page=0x10"] {
            assert_eq!(articles(query), Err(400), "{query}");
        }
        for query in ["page=0", "page=-1", "page=1000000001", "page=99999999999999999999", "page_size=0"] {
            assert_eq!(articles(query), Err(422), "{query}");
        }
        for query in ["page_size=101", "page_size=-1", "limit=0", "limit=101", "page=-99999999999999999999"] {
            assert_eq!(articles(query), Err(422), "{query}");
        }
    }
}
