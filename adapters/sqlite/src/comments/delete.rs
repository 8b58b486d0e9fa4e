//! Deleting a comment, with the article's counts and its event in the same transaction.

use madang_board::{ArticleId, CommentId};
use madang_comment::{Comment, DeleteComment, DeleteOutcome, events};
use madang_engine_sqlite::sql_error;
use madang_kernel::{Id, StoreError, Timestamp};
use rusqlite::Connection;

use super::{count, gone, row};
use crate::{Tx, moderation};

const HAS_REPLIES: &str = include_str!("../../sql/comment/has_replies.sql");
const MARK_DELETED: &str = include_str!("../../sql/comment/mark_deleted.sql");
const DELETE: &str = include_str!("../../sql/comment/delete.sql");

pub(super) fn delete(tx: &Tx, delete: &DeleteComment, now: Timestamp) -> Result<DeleteOutcome, StoreError> {
    let Some(comment) = row::find(tx, delete.comment_id)? else {
        return Ok(DeleteOutcome::Absent);
    };
    if gone::is_gone(tx, comment.article_id)? {
        return Ok(DeleteOutcome::Gone);
    }
    if comment.deleted {
        return Ok(DeleteOutcome::Absent);
    }
    let removed_rows = if has_replies(tx, comment.article_id, comment.comment_id)? {
        run(tx, MARK_DELETED, comment.comment_id)?;
        0
    } else {
        remove_upwards(tx, &comment)?
    };
    let count = count::count_out(tx, comment.article_id, removed_rows)?;
    tx.report(events::deleted(&comment, delete.event_id, now, count))?;
    moderation::record(tx, delete.act.as_ref())?;
    Ok(DeleteOutcome::Deleted(count))
}

/// Removes a comment without replies, and every mark above it that is left without replies; returns how many rows went.
/// As many steps as the comment is deep, at most.
fn remove_upwards(tx: &Connection, leaf: &Comment) -> Result<u64, StoreError> {
    run(tx, DELETE, leaf.comment_id)?;
    let mut removed = 1;
    let mut above = leaf.parent_id;
    while let Some(id) = above {
        let Some(ancestor) = row::find(tx, id)? else { break };
        if !ancestor.deleted || has_replies(tx, leaf.article_id, id)? {
            break;
        }
        run(tx, DELETE, id)?;
        removed += 1;
        above = ancestor.parent_id;
    }
    Ok(removed)
}

fn has_replies(tx: &Connection, article: ArticleId, comment: CommentId) -> Result<bool, StoreError> {
    let mut statement = tx.prepare_cached(HAS_REPLIES).map_err(sql_error)?;
    statement.exists([article.raw(), comment.raw()]).map_err(sql_error)
}

fn run(tx: &Connection, sql: &str, comment: CommentId) -> Result<(), StoreError> {
    let mut statement = tx.prepare_cached(sql).map_err(sql_error)?;
    statement.execute([comment.raw()]).map_err(sql_error)?;
    Ok(())
}
