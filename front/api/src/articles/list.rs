//! Articles of a board, by page number or by cursor, and of the whole site, by cursor; newest or last active first.

use axum::extract::State;
use axum::response::Response;
use madang_article_read::{Rank, ReadSummary, Sort};
use madang_board::BoardId;
use madang_kernel::{PageNumber, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::SummaryBody;
use crate::article_cache::ArticleCacheKey;
use crate::extract::{BoardArticlesQuery, ListQuery, PathId, Reader, SiteArticlesQuery, rank_cursor};
use crate::next_step::NextStep;
use crate::openapi::IdText;
use crate::state::{ReadCalls, Shared};
use crate::{ApiError, reply};

/// A numbered page, with `page`, `page_size` and `known_count`; or a step of the cursor, with `next`.
// One schema for both: of a union, generated clients make something awkward, or something that does not work.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArticleList<'a> {
    /// Newest or last active first; empty past the end.
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
    #[schema(value_type = Option<String>, required = false, example = "9007199254740993")]
    next: Option<NextStep<String>>,
}

/// The articles of a board, newest or last active first.
///
/// By page number with `page` and `page_size`, which is also what is answered when nothing is asked for; or by cursor
/// with `before` and `limit`. The two do not mix. With `sort=active` the articles are in the order of their last comment, or of
/// their creation where they have none; that list goes by cursor only and ends with the last of the 1,000 most active.
#[utoipa::path(
    get, path = "/api/v1/boards/{board_id}/articles", operation_id = "list_articles", tag = "articles",
    params(
        ("board_id" = IdText, Path, description = "The board"),
        ("page" = Option<u32>, Query, minimum = 1, maximum = 1_000_000_000, description = "The page; 1 when left out"),
        ("page_size" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Articles on a page; 30 when left out"),
        ("sort" = Option<String>, Query, pattern = "^(newest|active)$", description = "The order; newest when left out"),
        ("before" = Option<String>, Query, description = "What `next` of the step before said: where to go on. By creation, an article's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Articles in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A page, or a step of the cursor", body = ArticleList),
    ),
)]
pub(crate) async fn articles(
    State(api): State<Shared<ReadCalls>>,
    PathId(board): PathId<BoardId>,
    query: BoardArticlesQuery,
    reader: Reader,
) -> Result<Response, ApiError> {
    let key = match query {
        BoardArticlesQuery::Newest(ListQuery::Page(page, size)) => ArticleCacheKey::Page(board, page, size),
        BoardArticlesQuery::Newest(ListQuery::Scroll(before, size)) => ArticleCacheKey::Scroll(board, before, size),
        BoardArticlesQuery::Active(before, size) => ArticleCacheKey::Active(board, before, size),
    };
    let miss = match api.cached(key) {
        Ok(cached) => return Ok(reply::cached(&reader, &cached)),
        Err(miss) => miss,
    };
    let is_first = matches!(
        query,
        BoardArticlesQuery::Newest(ListQuery::Page(PageNumber::FIRST, _) | ListQuery::Scroll(None, _))
            | BoardArticlesQuery::Active(None, _)
    );
    let pinned = if is_first { Some(api.read.pinned(board).await?) } else { None };
    let pinned = pinned.as_deref().map(summaries);
    let body = match query {
        BoardArticlesQuery::Newest(ListQuery::Page(page, size)) => {
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
        BoardArticlesQuery::Newest(ListQuery::Scroll(before, size)) => {
            let found = api.read.scroll(board, before, size).await?.ok_or(NO_BOARD)?;
            step(&found.items, pinned, found.next.map(|next| next.to_string()))?
        }
        BoardArticlesQuery::Active(before, size) => {
            let found = api.read.active(board, before, size).await?.ok_or(NO_BOARD)?;
            step(&found.items, pinned, found.next.map(rank_cursor))?
        }
    };
    reply::rendered(&reader, api.cache(miss, body, None)).await
}

/// The articles of the whole site, newest or last active first.
///
/// With `sort=active` they are in the order of their last comment, or of their creation where they have none; that list ends with
/// the last of the 1,000 most active.
#[utoipa::path(
    get, path = "/api/v1/articles", operation_id = "list_site_articles", tag = "articles",
    params(
        ("sort" = Option<String>, Query, pattern = "^(newest|active)$", description = "The order; newest when left out"),
        ("before" = Option<String>, Query, description = "What `next` of the step before said: where to go on"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Articles in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A step of the cursor", body = SiteArticles),
    ),
)]
pub(crate) async fn site_articles(
    State(api): State<Shared<ReadCalls>>,
    query: SiteArticlesQuery,
    reader: Reader,
) -> Result<Response, ApiError> {
    let (sort, before, size) = match query {
        // By creation only the article counts.
        SiteArticlesQuery::Newest(before, size) => {
            let at = Timestamp::from_millis(0);
            (Sort::Newest, before.map(|article_id| Rank { at, article_id }), size)
        }
        SiteArticlesQuery::Active(before, size) => (Sort::Active, before, size),
    };
    let miss = match api.cached(ArticleCacheKey::Site(sort == Sort::Active, before, size)) {
        Ok(cached) => return Ok(reply::cached(&reader, &cached)),
        Err(miss) => miss,
    };
    let found = api.read.site(sort, before, size).await?;
    let next = found.next.map(|next| match sort {
        Sort::Newest => next.article_id.to_string(),
        Sort::Active => rank_cursor(next),
    });
    let body = reply::encode(&SiteArticles { items: summaries(&found.items), next }, PAGE_BYTES_HINT)?;
    reply::rendered(&reader, api.cache(miss, body, None)).await
}

/// A step down the whole site.
#[derive(Serialize, ToSchema)]
pub(crate) struct SiteArticles<'a> {
    /// Newest or last active first.
    items: Vec<SummaryBody<'a>>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<String>, required = true, example = "9007199254740993")]
    next: Option<String>,
}

/// A step of a board's list.
fn step(
    items: &[ReadSummary],
    pinned: Option<Vec<SummaryBody<'_>>>,
    next: Option<String>,
) -> Result<Vec<u8>, ApiError> {
    let (items, next) = (summaries(items), Some(NextStep(next)));
    encoded(&ArticleList { items, pinned, page: None, page_size: None, known_count: None, next })
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
