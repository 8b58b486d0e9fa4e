//! The end of an article: a mark that stays, and the removal of its likes in slices that keep the count equal to the rows.

use madang_board::ArticleId;
use madang_engine_sqlite::{Statements as _, limit};
use madang_event::Envelope;
use madang_kernel::{EventId, Id, PageSize, StoreError, Timestamp};
use madang_like::{CleanedUp, LikeCount, Replayed, events};
use rusqlite::{Connection, params};

const IS_GONE: &str = include_str!("../../sql/like/is_gone.sql");
const MARK_GONE: &str = include_str!("../../sql/like/mark_gone.sql");
const CLEAN_UP: &str = include_str!("../../sql/like/clean_up.sql");
const TAKE_FROM_COUNT: &str = include_str!("../../sql/like/take_from_count.sql");
const GONE_ARTICLES: &str = include_str!("../../sql/like/gone_articles.sql");
const RESTORE_COUNT: &str = include_str!("../../sql/like/restore_count.sql");
const UNMARK_GONE: &str = include_str!("../../sql/like/unmark_gone.sql");
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

/// Articles that are marked, after `after`.
pub(super) fn marked(tx: &Connection, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(0, ArticleId::raw);
    tx.list(GONE_ARTICLES, params![after, size.get()], |row| Ok(ArticleId::from_raw(row.get(0)?)))
}

/// Takes a mark away; the event that reports what is left, if there was one.
pub(super) fn restore(
    tx: &Connection,
    article: ArticleId,
    event_id: EventId,
    now: Timestamp,
) -> Result<Option<Envelope>, StoreError> {
    let counted: Option<(i64, i64)> = tx.find(RESTORE_COUNT, [article.raw()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((like_count, version)) = counted else { return Ok(None) };
    tx.run(UNMARK_GONE, [article.raw()])?;
    let count = LikeCount { like_count: like_count.cast_unsigned(), version: version.cast_unsigned() };
    let change = Replayed { count, liked: Vec::new(), unliked: Vec::new() };
    Ok(Some(events::changed(article, change, event_id, now)))
}
