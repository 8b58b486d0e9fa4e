//! A board's articles, by page number or by cursor.

use axum::extract::State;
use axum::response::Response;
use madang_article_read::ReadSummary;
use madang_board::{ArticleId, BoardId};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::SummaryBody;
use crate::article_cache::ArticleCacheKey;
use crate::extract::{ListQuery, PathId};
use crate::openapi::IdText;
use crate::state::{ReadCalls, Shared};
use crate::{ApiError, reply};

/// A numbered page.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArticlePage<'a> {
    /// Newest first; empty past the end.
    items: Vec<SummaryBody<'a>>,
    page: u32,
    page_size: u32,
    /// The count, exact up to what the next ten page buttons need.
    known_count: u64,
}

/// One step of a cursor list.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArticleScroll<'a> {
    /// Newest first.
    items: Vec<SummaryBody<'a>>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    next: Option<ArticleId>,
}

/// Either kind of list.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ArticleList)]
pub(crate) enum ArticleList<'a> {
    /// When asked with `page` and `page_size`, or with nothing.
    Page(ArticlePage<'a>),
    /// When asked with `before` or `limit`.
    Scroll(ArticleScroll<'a>),
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
) -> Result<Response, ApiError> {
    let key = match query {
        ListQuery::Page(page, size) => ArticleCacheKey::Page(board, page, size),
        ListQuery::Scroll(before, size) => ArticleCacheKey::Scroll(board, before, size),
    };
    let miss = match api.cached(key) {
        Ok(cached) => return Ok(reply::cached(None, &cached)),
        Err(miss) => miss,
    };
    let body = match query {
        ListQuery::Page(page, size) => {
            let found = api.read.page(board, page, size).await?.ok_or(NO_BOARD)?;
            encoded(&ArticleList::Page(ArticlePage {
                items: summaries(&found.items),
                page: page.get(),
                page_size: size.get(),
                known_count: found.known_count,
            }))?
        }
        ListQuery::Scroll(before, size) => {
            let found = api.read.scroll(board, before, size).await?.ok_or(NO_BOARD)?;
            encoded(&ArticleList::Scroll(ArticleScroll { items: summaries(&found.items), next: found.next }))?
        }
    };
    Ok(reply::cached(None, &api.cache(miss, body, None)))
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
