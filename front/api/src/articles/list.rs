//! A board's articles, by page number or by cursor.

use axum::extract::State;
use axum::response::Response;
use madang_article_read::ReadSummary;
use madang_board::{ArticleId, BoardId};
use madang_kernel::PageNumber;
use serde::Serialize;
use utoipa::ToSchema;

use super::body::SummaryBody;
use crate::article_cache::ArticleCacheKey;
use crate::extract::{ListQuery, PathId, Reader};
use crate::next_step::NextStep;
use crate::openapi::IdText;
use crate::state::{ReadCalls, Shared};
use crate::{ApiError, reply};

/// A numbered page, with `page`, `page_size` and `known_count`; or a step of the cursor, with `next`.
// One schema for both: of a union, generated clients make something awkward, or something that does not work.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArticleList<'a> {
    /// Newest first; empty past the end.
    items: Vec<SummaryBody<'a>>,
    /// On the first page and in the first step: what is pinned, the last pinned first. The articles are among `items` too,
    /// where they have their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<SummaryBody>, required = false)]
    pinned: Option<Vec<SummaryBody<'a>>>,
    /// The page that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, required = false, example = 1)]
    page: Option<u32>,
    /// The most articles that are on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, required = false, example = 30)]
    page_size: Option<u32>,
    /// The count, exact up to what the next ten page buttons need.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, required = false, example = 301)]
    known_count: Option<u64>,
    /// Goes into `before` of the next step; null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IdText>, required = false)]
    next: Option<NextStep<ArticleId>>,
}

/// The articles of a board, newest first.
///
/// By page number with `page` and `page_size`, which is also what is answered when nothing is asked for; or by cursor
/// with `before` and `limit`. The two do not mix.
#[utoipa::path(
    get, path = "/api/v1/boards/{board_id}/articles", operation_id = "list_articles", tag = "articles",
    params(
        ("board_id" = IdText, Path, description = "The board"),
        ("page" = Option<u32>, Query, minimum = 1, maximum = 1_000_000_000, description = "The page; 1 when left out"),
        ("page_size" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Articles on a page; 30 when left out"),
        ("before" = Option<IdText>, Query, description = "Only articles older than this one"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Articles in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A page, or a step of the cursor", body = ArticleList),
    ),
)]
pub(crate) async fn articles(
    State(api): State<Shared<ReadCalls>>,
    PathId(board): PathId<BoardId>,
    query: ListQuery,
    reader: Reader,
) -> Result<Response, ApiError> {
    let key = match query {
        ListQuery::Page(page, size) => ArticleCacheKey::Page(board, page, size),
        ListQuery::Scroll(before, size) => ArticleCacheKey::Scroll(board, before, size),
    };
    let miss = match api.cached(key) {
        Ok(cached) => return Ok(reply::cached(&reader, &cached)),
        Err(miss) => miss,
    };
    let is_first = matches!(query, ListQuery::Page(PageNumber::FIRST, _) | ListQuery::Scroll(None, _));
    let pinned = if is_first { Some(api.read.pinned(board).await?) } else { None };
    let pinned = pinned.as_deref().map(summaries);
    let body = match query {
        ListQuery::Page(page, size) => {
            let found = api.read.page(board, page, size).await?.ok_or(NO_BOARD)?;
            encoded(&ArticleList {
                items: summaries(&found.items),
                pinned,
                page: Some(page.get()),
                page_size: Some(size.get()),
                known_count: Some(found.known_count),
                next: None,
            })?
        }
        ListQuery::Scroll(before, size) => {
            let found = api.read.scroll(board, before, size).await?.ok_or(NO_BOARD)?;
            let (items, next) = (summaries(&found.items), Some(NextStep(found.next)));
            encoded(&ArticleList { items, pinned, page: None, page_size: None, known_count: None, next })?
        }
    };
    reply::rendered(&reader, api.cache(miss, body, None)).await
}

/// About how long a page is as JSON.
const PAGE_BYTES_HINT: usize = 12 * 1_024;
const NO_BOARD: ApiError = ApiError::NotFound("board");

fn encoded(list: &ArticleList<'_>) -> Result<Vec<u8>, ApiError> {
    reply::encode(list, PAGE_BYTES_HINT)
}

fn summaries(articles: &[ReadSummary]) -> Vec<SummaryBody<'_>> {
    articles.iter().map(SummaryBody::from).collect()
}
