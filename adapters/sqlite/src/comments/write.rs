//! Calls that change comments: each loads what it needs, is decided by the replay and writes what that says, in one
//! transaction.

use madang_board::CommentId;
use madang_comment::replay::{CommentCounter, Loaded, Replay, Replayed};
use madang_comment::{Comment, CommentPath};
use madang_engine_sqlite::{idempotency, sql_error};
use madang_kernel::{Id, RowChanges, StoreError, Timestamp};
use rusqlite::{Connection, params};

use crate::{Tx, moderation};

const INSERT: &str = include_str!("../../sql/comment/insert.sql");
const MARK_DELETED: &str = include_str!("../../sql/comment/mark_deleted.sql");
const DELETE: &str = include_str!("../../sql/comment/delete.sql");
const SET_COUNT: &str = include_str!("../../sql/comment/set_count.sql");
const MARK_GONE: &str = include_str!("../../sql/comment/mark_gone.sql");
const REMOVE_COUNT: &str = include_str!("../../sql/comment/remove_count.sql");

/// Decides a call on what was loaded for it, and writes what it comes to.
pub(super) fn decide<T>(
    tx: &Tx,
    loaded: Loaded,
    now: Timestamp,
    call: impl FnOnce(&mut Replay) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut replay = Replay::new(loaded, now);
    let outcome = call(&mut replay)?;
    write(tx, replay.finish(), now)?;
    Ok(outcome)
}

fn write(tx: &Tx, replayed: Replayed, now: Timestamp) -> Result<(), StoreError> {
    let Replayed { comments, counters, gone_now, records, acts, events, .. } = replayed;
    rows(tx, &comments).map_err(sql_error)?;
    for counter in &counters {
        set_count(tx, counter).map_err(sql_error)?;
    }
    for article in gone_now.into_iter().map(Id::raw) {
        // The counts go with the mark, so that no reader counts what is being removed.
        let mark = [article, now.as_millis()];
        tx.prepare_cached(MARK_GONE).and_then(|mut statement| statement.execute(mark)).map_err(sql_error)?;
        tx.prepare_cached(REMOVE_COUNT).and_then(|mut remove| remove.execute([article])).map_err(sql_error)?;
    }
    idempotency::store(tx, &records)?;
    for act in &acts {
        moderation::record(tx, Some(act))?;
    }
    for event in events {
        tx.report(event)?;
    }
    Ok(())
}

fn rows(tx: &Connection, comments: &RowChanges<CommentId, Comment>) -> rusqlite::Result<()> {
    for comment in &comments.deletes {
        tx.prepare_cached(DELETE)?.execute([comment.raw()])?;
    }
    for mark in &comments.updates {
        tx.prepare_cached(MARK_DELETED)?.execute([mark.comment_id.raw()])?;
    }
    for comment in &comments.inserts {
        tx.prepare_cached(INSERT)?.execute(params![
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
        ])?;
    }
    Ok(())
}

fn set_count(tx: &Connection, counter: &CommentCounter) -> rusqlite::Result<()> {
    let CommentCounter { article_id, count, greatest_id, .. } = counter;
    let row = params![article_id.raw(), count.comment_count, count.row_count, count.version, greatest_id];
    tx.prepare_cached(SET_COUNT)?.execute(row)?;
    Ok(())
}
