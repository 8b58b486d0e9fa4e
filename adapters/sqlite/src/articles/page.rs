//! Lists of a board's articles: numbered pages that stay cheap however deep, and steps from a cursor.

use madang_article::blocks::{BLOCK, BLOCK_ARTICLES, Position, SUPER_BLOCK, skip};
use madang_article::{ArticleHead, ArticlePlace, NewestArticles};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_sqlite::{Statements as _, limit, sql_error};
use madang_kernel::{Id, Page, PageNumber, PageSize, Scroll, StoreError, known_count};
use rusqlite::{Connection, Params, params};

use super::{board, row};

const BLOCKS_BELOW: &str = include_str!("../../sql/article/blocks_below.sql");
const NEWEST: &str = include_str!("../../sql/article/newest.sql");
const PAGE_BELOW: &str = include_str!("../../sql/article/page_below.sql");
const PAGE_BY_PLAIN_OFFSET: &str = include_str!("../../sql/article/page_by_plain_offset.sql");
const BY_WRITER: &str = include_str!("../../sql/article/by_writer.sql");
const SITE_NEWEST: &str = include_str!("../../sql/article/site_newest.sql");
const PLACE: &str = include_str!("../../sql/article/place.sql");
const SCROLL: &str = include_str!("../../sql/article/scroll.sql");

/// How a numbered page is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageQuery {
    /// Whole blocks are skipped, then the rest of the offset within one block.
    Blocks,
    /// The whole offset is skipped in the covering index.
    CoveringSubquery,
    /// The whole offset is skipped row by row.
    PlainOffset,
}

/// A page and the count beside it, of one moment: a call to a reader is one snapshot.
pub(super) fn page(
    reader: &Connection,
    query: PageQuery,
    board: BoardId,
    page: PageNumber,
    size: PageSize,
) -> Result<Page<ArticleHead>, StoreError> {
    let count = board::count(reader, board)?.map_or(0, |count| count.article_count);
    let offset = page.offset(size);
    // Past the end there is nothing to look for, however far past it is.
    let items = if offset < count { items(reader, query, board, offset, size)? } else { Vec::new() };
    Ok(Page { items, known_count: known_count(count, page, size) })
}

/// The articles before `before`, or the newest.
pub(super) fn scroll(
    reader: &Connection,
    board: BoardId,
    before: Option<ArticleId>,
    size: PageSize,
) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
    let below = before.map_or(i64::MAX, ArticleId::raw);
    let items = summaries(reader, SCROLL, [board.raw(), below, i64::from(size.get()) + 1])?;
    Ok(Scroll::from_surplus(items, size, |article| article.article_id))
}

/// The articles of one writer before `before`, or the newest.
pub(super) fn by_writer(
    reader: &Connection,
    writer: MemberId,
    before: Option<ArticleId>,
    size: PageSize,
) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
    let below = before.map_or(i64::MAX, ArticleId::raw);
    let items = summaries(reader, BY_WRITER, [writer.raw(), below, i64::from(size.get()) + 1])?;
    Ok(Scroll::from_surplus(items, size, |article| article.article_id))
}

/// The ids of the newest articles, with the count of the same snapshot.
pub(super) fn newest(reader: &Connection, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
    let Some(count) = board::count(reader, board)? else { return Ok(None) };
    // One more than asked for tells whether there are others.
    let surplus = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut ids: Vec<_> = reader.list(NEWEST, [board.raw(), surplus], |row| Ok(ArticleId::from_raw(row.get(0)?)))?;
    let is_all = ids.len() <= limit;
    ids.truncate(limit);
    Ok(Some(NewestArticles { ids, is_all, count }))
}

/// The newest articles of all boards before a cursor.
pub(super) fn site_newest(
    reader: &Connection,
    before: Option<ArticleId>,
    most: usize,
) -> Result<Vec<ArticlePlace>, StoreError> {
    reader.list(SITE_NEWEST, [before.map_or(i64::MAX, ArticleId::raw), limit(most)], row::place)
}

/// Where articles stand, in the order asked.
pub(super) fn places(reader: &Connection, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
    articles.iter().map(|article| reader.find(PLACE, [article.raw()], row::place)).collect()
}

fn items(
    tx: &Connection,
    query: PageQuery,
    board: BoardId,
    offset: u64,
    size: PageSize,
) -> Result<Vec<ArticleHead>, StoreError> {
    let start = match query {
        PageQuery::Blocks => position(tx, board, offset)?,
        PageQuery::CoveringSubquery => Position::after(offset),
        PageQuery::PlainOffset => {
            return summaries(tx, PAGE_BY_PLAIN_OFFSET, params![board.raw(), size.get(), offset]);
        }
    };
    summaries(tx, PAGE_BELOW, params![board.raw(), start.below, size.get(), start.remaining])
}

/// Where the page starts: super-blocks are skipped first, then blocks, each level read only as far as needed.
fn position(tx: &Connection, board: BoardId, offset: u64) -> Result<Position, StoreError> {
    let newest = Position::after(offset);
    if offset < BLOCK_ARTICLES {
        return Ok(newest); // The newest block is seldom skipped, so reading it would cost more than it saves.
    }
    let below_super_blocks = skip_level(tx, board, SUPER_BLOCK, newest)?;
    skip_level(tx, board, BLOCK, below_super_blocks)
}

fn skip_level(tx: &Connection, board: BoardId, level: u8, from: Position) -> Result<Position, StoreError> {
    let mut statement = tx.prepare_cached(BLOCKS_BELOW).map_err(sql_error)?;
    let rows = statement
        .query_map(params![board.raw(), level, from.below], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(sql_error)?;
    let mut failed = None;
    let blocks = rows.map_while(|block| block.map_err(|error| failed = Some(error)).ok());
    let position = skip(from, blocks);
    match failed {
        Some(error) => Err(sql_error(error)),
        None => Ok(position),
    }
}

fn summaries(tx: &Connection, sql: &str, params: impl Params) -> Result<Vec<ArticleHead>, StoreError> {
    tx.list(sql, params, row::summary)
}
