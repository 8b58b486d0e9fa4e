//! What the replay of a call comes to, written in the transaction of the call.

use madang_board::CommentId;
use madang_comment::replay::{CommentCounter, Replayed};
use madang_comment::{Comment, CommentPath};
use madang_engine_sqlite::{Statements as _, idempotency};
use madang_kernel::{Id, RowChanges, StoreError, Timestamp};
use rusqlite::{Connection, params};

use crate::{Tx, moderation};

const INSERT: &str = include_str!("../../sql/comment/insert.sql");
const UPDATE: &str = include_str!("../../sql/comment/update.sql");
const DELETE: &str = include_str!("../../sql/comment/delete.sql");
const SET_COUNT: &str = include_str!("../../sql/comment/set_count.sql");
const MARK_GONE: &str = include_str!("../../sql/comment/mark_gone.sql");
const REMOVE_COUNT: &str = include_str!("../../sql/comment/remove_count.sql");

/// Writes comments, what counts them, records and acts, and reports the events.
pub(super) fn all(tx: &Tx, replayed: Replayed, now: Timestamp) -> Result<(), StoreError> {
    let Replayed { comments, removed, counters, gone_now, records, acts, events, .. } = replayed;
    rows(tx, &comments)?;
    super::removed::write(tx, &removed)?;
    for CommentCounter { article_id, count, greatest_id, board_id, last, .. } in &counters {
        let last = last.as_ref();
        tx.run(
            SET_COUNT,
            params![
                article_id.raw(),
                count.comment_count,
                count.row_count,
                count.version,
                greatest_id,
                count.locked,
                board_id.map(Id::raw),
                last.map(|last| last.comment_id.raw()),
                last.map(|last| last.created_at.as_millis()),
                last.map(|last| last.writer.member_id.raw()),
                last.map(|last| last.writer.name.as_str()),
            ],
        )?;
    }
    for article in gone_now.into_iter().map(Id::raw) {
        // The counts go with the mark, so that no reader counts what is being removed.
        tx.run(MARK_GONE, [article, now.as_millis()])?;
        tx.run(REMOVE_COUNT, [article])?;
    }
    idempotency::store(tx, &records)?;
    moderation::record(tx, &acts)?;
    for event in events {
        tx.report(event)?;
    }
    Ok(())
}

fn rows(tx: &Connection, comments: &RowChanges<CommentId, Comment>) -> Result<(), StoreError> {
    for comment in &comments.deletes {
        tx.run(DELETE, [comment.raw()])?;
    }
    for comment in &comments.updates {
        tx.run(
            UPDATE,
            params![
                comment.comment_id.raw(),
                comment.deleted,
                comment.writer.as_ref().map(|writer| writer.member_id.raw()),
                comment.writer.as_ref().map(|writer| writer.name.as_str()),
                comment.content,
                comment.content_html,
                comment.version,
                comment.modified_at.as_millis(),
            ],
        )?;
    }
    for comment in &comments.inserts {
        tx.run(
            INSERT,
            params![
                comment.comment_id.raw(),
                comment.article_id.raw(),
                comment.parent_id.unwrap_or(comment.comment_id).raw(),
                comment.depth,
                comment.deleted,
                comment.created_at.as_millis(),
                comment.path.as_ref().map(CommentPath::as_str),
                comment.writer.as_ref().map(|writer| writer.member_id.raw()),
                comment.writer.as_ref().map(|writer| writer.name.as_str()),
                comment.content,
                comment.content_html,
                comment.version,
                comment.modified_at.as_millis(),
            ],
        )?;
    }
    Ok(())
}
