//! Articles that are gone: a permanent row, and the removal of what is left.

use madang_board::ArticleId;
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, PageSize, StoreError};
use rusqlite::{Connection, params};

use super::removed;

const IS_GONE: &str = include_str!("../../sql/comment/is_gone.sql");
const CLEAN_UP: &str = include_str!("../../sql/comment/clean_up.sql");
const GONE_ARTICLES: &str = include_str!("../../sql/comment/gone_articles.sql");
const RESTORE_COUNT: &str = include_str!("../../sql/comment/restore_count.sql");
const UNMARK_GONE: &str = include_str!("../../sql/comment/unmark_gone.sql");
const COUNTED_ARTICLES: &str = include_str!("../../sql/comment/counted_articles.sql");

/// Whether the article is gone.
pub(super) fn is_gone(tx: &Connection, article: ArticleId) -> Result<bool, StoreError> {
    tx.exists(IS_GONE, [article.raw()])
}

/// Removes one slice; without the mark nothing, since the counts would no longer be true.
pub(super) fn clean_up(tx: &Connection, article: ArticleId, slice_rows: u32) -> Result<u32, StoreError> {
    if !is_gone(tx, article)? {
        return Ok(0);
    }
    removed::clean_up(tx, article, slice_rows)?;
    let removed = tx.run(CLEAN_UP, params![article.raw(), slice_rows])?;
    // No more than the slice.
    Ok(u32::try_from(removed).unwrap_or(slice_rows))
}

/// Articles of which anything is stored, after `after`.
pub(super) fn counted_articles(
    tx: &Connection,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(0, ArticleId::raw);
    tx.list(COUNTED_ARTICLES, params![after, size.get()], |row| Ok(ArticleId::from_raw(row.get(0)?)))
}

/// Articles that are marked, after `after`.
pub(super) fn marked(tx: &Connection, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(0, ArticleId::raw);
    tx.list(GONE_ARTICLES, params![after, size.get()], |row| Ok(ArticleId::from_raw(row.get(0)?)))
}

/// Takes a mark away; what is left counts again.
pub(super) fn restore(tx: &Connection, article: ArticleId) -> Result<(), StoreError> {
    if is_gone(tx, article)? {
        tx.run(RESTORE_COUNT, [article.raw()])?;
        tx.run(UNMARK_GONE, [article.raw()])?;
    }
    Ok(())
}
