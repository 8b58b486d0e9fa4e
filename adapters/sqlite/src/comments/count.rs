//! The counts of an article's comments, kept in the transaction of the comment.

use madang_board::ArticleId;
use madang_comment::CommentCount;
use madang_engine_sqlite::sql_error;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::gone::is_gone;
use super::row::unsigned;

const COUNT: &str = include_str!("../../sql/comment/count.sql");
const SET_COUNT: &str = include_str!("../../sql/comment/set_count.sql");

/// The counts, with the greatest comment id that the article has seen.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) count: CommentCount,
    pub(super) greatest_id: i64,
}

/// What the article counts; zeros when nobody has commented.
pub(super) fn tally(tx: &Connection, article: ArticleId) -> Result<Tally, StoreError> {
    let mut statement = tx.prepare_cached(COUNT).map_err(sql_error)?;
    let read = |row: &Row<'_>| {
        let count =
            CommentCount { comment_count: unsigned(row, 0)?, row_count: unsigned(row, 1)?, version: unsigned(row, 2)? };
        Ok(Tally { count, greatest_id: row.get(3)? })
    };
    let found = statement.query_row([article.raw()], read).optional().map_err(sql_error)?;
    Ok(found.unwrap_or_default())
}

/// The counts in the order asked; `None` for an article that is gone.
pub(super) fn counts(tx: &Connection, articles: &[ArticleId]) -> Result<Vec<Option<CommentCount>>, StoreError> {
    let count = |article| if is_gone(tx, article)? { Ok(None) } else { Ok(Some(tally(tx, article)?.count)) };
    articles.iter().copied().map(count).collect()
}

/// Counts a comment in.
pub(super) fn count_in(
    tx: &Connection,
    article: ArticleId,
    tally: Tally,
    comment: i64,
) -> Result<CommentCount, StoreError> {
    let CommentCount { comment_count, row_count, version } = tally.count;
    let count = CommentCount { comment_count: comment_count + 1, row_count: row_count + 1, version: version + 1 };
    set(tx, article, Tally { count, greatest_id: tally.greatest_id.max(comment) })?;
    Ok(count)
}

/// Counts a comment out, with the rows that went: none when it became a mark.
pub(super) fn count_out(tx: &Connection, article: ArticleId, rows: u64) -> Result<CommentCount, StoreError> {
    let tally = tally(tx, article)?;
    let CommentCount { comment_count, row_count, version } = tally.count;
    let (Some(comment_count), Some(row_count)) = (comment_count.checked_sub(1), row_count.checked_sub(rows)) else {
        let reason = format!("a comment of article {article} was never counted; run `madang check`");
        return Err(StoreError::broken("article_comment_count", reason));
    };
    let count = CommentCount { comment_count, row_count, version: version + 1 };
    set(tx, article, Tally { count, ..tally })?;
    Ok(count)
}

fn set(tx: &Connection, article: ArticleId, tally: Tally) -> Result<(), StoreError> {
    let Tally { count, greatest_id } = tally;
    let mut set = tx.prepare_cached(SET_COUNT).map_err(sql_error)?;
    set.execute(params![
        article.raw(),
        count.comment_count as i64,
        count.row_count as i64,
        count.version as i64,
        greatest_id
    ])
    .map_err(sql_error)?;
    Ok(())
}
