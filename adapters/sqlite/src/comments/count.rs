//! The counts of an article's comments, its newest comment, and whether it is gone.

use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_comment::replay::CommentCounter;
use madang_comment::{Active, CommentCount, Counted};
use madang_engine_sqlite::{Statements as _, limit};
use madang_event::{LastComment, Writer};
use madang_kernel::{Id, PageSize, StoreError, Timestamp};
use rusqlite::{Connection, Row, params};

const COUNT: &str = include_str!("../../sql/comment/count.sql");
const NEWEST: &str = include_str!("../../sql/comment/newest.sql");
const ACTIVE: &str = include_str!("../../sql/comment/active.sql");
const ACTIVE_ON_BOARD: &str = include_str!("../../sql/comment/active_on_board.sql");
const UNPLACED: &str = include_str!("../../sql/comment/unplaced.sql");

/// What the article counts; zeros when nobody has commented, or when it is gone.
pub(super) fn counter(tx: &Connection, article: ArticleId) -> Result<CommentCounter, StoreError> {
    let read = |row: &Row<'_>| {
        let number = |column: usize| Ok::<u64, rusqlite::Error>(row.get::<_, Option<u64>>(column)?.unwrap_or(0));
        let count = CommentCount {
            comment_count: number(0)?,
            row_count: number(1)?,
            version: number(2)?,
            locked: number(5)? == 1,
        };
        let greatest_id = row.get::<_, Option<i64>>(3)?.unwrap_or(0);
        let board_id = row.get::<_, Option<i64>>(6)?.map(BoardId::from_raw);
        let (is_noted, last) = (number(7)? == count.version, last(row, 8)?);
        Ok((CommentCounter { article_id: article, count, greatest_id, is_gone: row.get(4)?, board_id, last }, is_noted))
    };
    let (mut counter, is_noted) = tx.one(COUNT, [article.raw()], read)?;
    if !is_noted {
        counter.last = newest(tx, article, 1)?.pop();
    }
    Ok(counter)
}

/// The newest visible comments of an article.
pub(crate) fn newest(tx: &Connection, article: ArticleId, most: usize) -> Result<Vec<LastComment>, StoreError> {
    let found = |row: &Row<'_>| {
        let writer = Writer { member_id: MemberId::from_raw(row.get(2)?), name: row.get(3)? };
        let (comment_id, created_at) = (CommentId::from_raw(row.get(0)?), Timestamp::from_millis(row.get(1)?));
        Ok(LastComment { comment_id, writer, created_at })
    };
    tx.list(NEWEST, params![article.raw(), limit(most)], found)
}

/// Columns from `first` on: comment, moment, writer, writer's name; nothing where there is no comment.
pub(crate) fn last(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<LastComment>> {
    let Some(comment) = row.get::<_, Option<i64>>(first)? else { return Ok(None) };
    let writer = Writer { member_id: MemberId::from_raw(row.get(first + 2)?), name: row.get(first + 3)? };
    let created_at = Timestamp::from_millis(row.get(first + 1)?);
    Ok(Some(LastComment { comment_id: CommentId::from_raw(comment), writer, created_at }))
}

/// The counts in the order asked; `None` for an article that is gone.
pub(super) fn counts(tx: &Connection, articles: &[ArticleId]) -> Result<Vec<Option<Counted>>, StoreError> {
    let count = |article| counter(tx, article).map(|counter| (!counter.is_gone).then(|| counter.counted()));
    articles.iter().copied().map(count).collect()
}

/// Articles by their newest comment.
pub(super) fn active(
    tx: &Connection,
    board: Option<BoardId>,
    until: Timestamp,
    most: usize,
) -> Result<Vec<Active>, StoreError> {
    let found = |row: &Row<'_>| {
        let (article_id, last_at) = (ArticleId::from_raw(row.get(0)?), Timestamp::from_millis(row.get(1)?));
        Ok(Active { article_id, last_at, version: row.get(2)? })
    };
    let (until, most) = (until.as_millis(), limit(most));
    match board {
        None => tx.list(ACTIVE, [until, most], found),
        Some(board) => tx.list(ACTIVE_ON_BOARD, [board.raw(), until, most], found),
    }
}

/// Articles whose counter a version before wrote, after `after`.
pub(super) fn unplaced(
    tx: &Connection,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(0, ArticleId::raw);
    tx.list(UNPLACED, params![after, size.get()], |row| Ok(ArticleId::from_raw(row.get(0)?)))
}
