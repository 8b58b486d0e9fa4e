//! What moderators removed of comments: kept apart until it is restored or purged.

use madang_board::{ArticleId, CommentId, MemberId};
use madang_comment::RemovedComment;
use madang_engine_sqlite::{Statements as _, limit};
use madang_event::Writer;
use madang_kernel::{Id, RowChanges, StoreError, Timestamp};
use rusqlite::{Connection, Row, params};

use crate::articles::removal;

const FIND: &str = include_str!("../../sql/comment/find_removed.sql");
const SET: &str = include_str!("../../sql/comment/set_removed.sql");
const DELETE: &str = include_str!("../../sql/comment/delete_removed.sql");
const UNTIL: &str = include_str!("../../sql/comment/removed_until.sql");
const CLEAN_UP: &str = include_str!("../../sql/comment/clean_up_removed.sql");

/// What was removed of one comment.
pub(super) fn find(tx: &Connection, comment: CommentId) -> Result<Option<RemovedComment>, StoreError> {
    tx.find(FIND, [comment.raw()], removed)
}

/// Comments that were removed at a moment or before.
pub(super) fn until(tx: &Connection, until: Timestamp, most: usize) -> Result<Vec<CommentId>, StoreError> {
    tx.list(UNTIL, [until.as_millis(), limit(most)], |row| Ok(CommentId::from_raw(row.get(0)?)))
}

/// Removes a slice of what was removed on an article that is gone.
pub(super) fn clean_up(tx: &Connection, article: ArticleId, slice_rows: u32) -> Result<(), StoreError> {
    tx.run(CLEAN_UP, params![article.raw(), slice_rows]).map(drop)
}

/// Writes what is removed, and what is no longer.
pub(super) fn write(tx: &Connection, changes: &RowChanges<CommentId, RemovedComment>) -> Result<(), StoreError> {
    for comment in &changes.deletes {
        tx.run(DELETE, [comment.raw()])?;
    }
    for RemovedComment { comment_id, article_id, content, writer, removal } in
        changes.inserts.iter().chain(&changes.updates)
    {
        tx.run(
            SET,
            params![
                comment_id.raw(),
                article_id.raw(),
                writer.member_id.raw(),
                writer.name,
                content,
                removal.removed_at.as_millis(),
                removal.moderator_id.raw(),
                removal.moderator_name,
                removal.reason,
            ],
        )?;
    }
    Ok(())
}

/// Columns: comment, article, writer, writer's name, text, then those of the removal.
fn removed(row: &Row<'_>) -> rusqlite::Result<RemovedComment> {
    Ok(RemovedComment {
        comment_id: CommentId::from_raw(row.get(0)?),
        article_id: ArticleId::from_raw(row.get(1)?),
        writer: Writer { member_id: MemberId::from_raw(row.get(2)?), name: row.get(3)? },
        content: row.get(4)?,
        removal: removal(row, 5)?,
    })
}
