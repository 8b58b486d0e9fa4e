//! The end of an article: a mark that stays, and the removal of its likes in slices that keep the count equal to the rows.

use madang_board::ArticleId;
use madang_engine_sqlite::{Statements as _, limit};
use madang_kernel::{Id, StoreError};
use madang_like::CleanedUp;
use rusqlite::Connection;

const IS_GONE: &str = include_str!("../../sql/like/is_gone.sql");
const MARK_GONE: &str = include_str!("../../sql/like/mark_gone.sql");
const CLEAN_UP: &str = include_str!("../../sql/like/clean_up.sql");
const TAKE_FROM_COUNT: &str = include_str!("../../sql/like/take_from_count.sql");
const DELETE_COUNT: &str = include_str!("../../sql/like/delete_count.sql");

pub(super) fn is_gone(tx: &Connection, article: ArticleId) -> Result<bool, StoreError> {
    tx.exists(IS_GONE, [article.raw()])
}

pub(super) fn mark(tx: &Connection, article: ArticleId) -> Result<bool, StoreError> {
    Ok(tx.run(MARK_GONE, [article.raw()])? > 0)
}

pub(super) fn clean_up(tx: &Connection, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError> {
    if !is_gone(tx, article)? {
        return Ok(CleanedUp { removed: 0, done: true });
    }
    // A slice of nothing would never be done.
    let slice = slice.max(1);
    let removed = tx.run(CLEAN_UP, [article.raw(), limit(slice)])?;
    let done = removed < slice;
    match done {
        true => tx.run(DELETE_COUNT, [article.raw()])?,
        false => tx.run(TAKE_FROM_COUNT, [article.raw(), limit(removed)])?,
    };
    Ok(CleanedUp { removed: removed as u64, done })
}
