//! The end of an article: a mark that stays, and the removal of its likes in slices that keep the count equal to the rows.

use madang_board::ArticleId;
use madang_engine_sqlite::{limit, sql_error};
use madang_kernel::{Id, StoreError};
use madang_like::CleanedUp;
use rusqlite::Connection;

const IS_GONE: &str = include_str!("../../sql/like/is_gone.sql");
const MARK_GONE: &str = include_str!("../../sql/like/mark_gone.sql");
const CLEAN_UP: &str = include_str!("../../sql/like/clean_up.sql");
const TAKE_FROM_COUNT: &str = include_str!("../../sql/like/take_from_count.sql");
const DELETE_COUNT: &str = include_str!("../../sql/like/delete_count.sql");

pub(super) fn is_gone(tx: &Connection, article: ArticleId) -> Result<bool, StoreError> {
    tx.prepare_cached(IS_GONE).and_then(|mut statement| statement.exists([article.raw()])).map_err(sql_error)
}

pub(super) fn mark(tx: &Connection, article: ArticleId) -> Result<bool, StoreError> {
    let marked = tx.prepare_cached(MARK_GONE).and_then(|mut insert| insert.execute([article.raw()]));
    Ok(marked.map_err(sql_error)? > 0)
}

pub(super) fn clean_up(tx: &Connection, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError> {
    if !is_gone(tx, article)? {
        return Ok(CleanedUp { removed: 0, done: true });
    }
    // A slice of nothing would never be done.
    let slice = slice.max(1);
    let mut delete = tx.prepare_cached(CLEAN_UP).map_err(sql_error)?;
    let removed = delete.execute([article.raw(), limit(slice)]).map_err(sql_error)?;
    let done = removed < slice;
    let counted = if done {
        tx.prepare_cached(DELETE_COUNT).and_then(|mut delete| delete.execute([article.raw()]))
    } else {
        tx.prepare_cached(TAKE_FROM_COUNT).and_then(|mut update| update.execute([article.raw(), limit(removed)]))
    };
    counted.map_err(sql_error)?;
    Ok(CleanedUp { removed: removed as u64, done })
}
