//! One call at a time, with its counter kept in one of three ways; what grouped counting is compared with.

use madang_engine_sqlite::sql_error;
use madang_kernel::{Id, StoreError, Timestamp};
use madang_like::{LikeAnswer, LikeCount, LikeOutcome, LikeState, Replay, Replayed};
use rusqlite::{Connection, params};

use super::change::{Change, Conflict, count, find_count, is_liked, report};
use super::gone::is_gone;
use crate::Tx;

const ADD_TO_COUNT: &str = include_str!("../../sql/like/add_to_count.sql");
const SET_COUNT: &str = include_str!("../../sql/like/set_count.sql");
const SET_COUNT_IF: &str = include_str!("../../sql/like/set_count_if.sql");

/// Lets the database add to the counter where it stands.
pub(super) fn update_in_place(tx: &Tx, change: &Change, now: Timestamp) -> Result<LikeOutcome, StoreError> {
    let article = change.article_id;
    if is_gone(tx, article)? {
        return Ok(LikeOutcome::Gone);
    }
    let liked = change.row.is_some();
    let changed = change.store_row(tx)?;
    let committed = if changed {
        let by = if liked { 1 } else { -1 };
        let mut add = tx.prepare_cached(ADD_TO_COUNT).map_err(sql_error)?;
        let committed = add.query_row([article.raw(), by], |row| count(row, 0)).map_err(sql_error)?;
        let (one, none) = (vec![change.member_id], vec![]);
        let (liked, unliked) = if liked { (one, none) } else { (none, one) };
        report(tx, article, Replayed { count: committed, liked, unliked }, change.event_id, now)?;
        committed
    } else {
        find_count(tx, article)?
    };
    let state = LikeState { liked, like_count: committed.like_count };
    Ok(LikeOutcome::Done(LikeAnswer { state, changed, committed }))
}

/// Reads the counter first. There is one writer, so its transaction is the lock that `FOR UPDATE` takes elsewhere.
pub(super) fn select_for_update(tx: &Tx, change: &Change, now: Timestamp) -> Result<LikeOutcome, StoreError> {
    if is_gone(tx, change.article_id)? {
        return Ok(LikeOutcome::Gone);
    }
    let before = find_count(tx, change.article_id)?;
    let (answer, replayed) = decide(tx, change, before)?;
    if answer.changed {
        write_count(tx, SET_COUNT, change, replayed.count)?;
        change.store_row(tx)?;
        report(tx, change.article_id, replayed, change.event_id, now)?;
    }
    Ok(LikeOutcome::Done(answer))
}

/// Builds on a counter `seen` before this transaction, and gives up when it is no longer so.
pub(super) fn optimistic(tx: &Tx, change: &Change, seen: LikeCount, now: Timestamp) -> Result<LikeOutcome, Conflict> {
    if is_gone(tx, change.article_id)? {
        return Ok(LikeOutcome::Gone);
    }
    let (answer, replayed) = decide(tx, change, seen)?;
    if !answer.changed {
        // Nothing to write, so nothing to be overtaken in: answers with the counter of this moment.
        let (answer, _) = decide(tx, change, find_count(tx, change.article_id)?)?;
        return Ok(LikeOutcome::Done(answer));
    }
    if write_count(tx, SET_COUNT_IF, change, replayed.count)? == 0 {
        return Err(Conflict::Overtaken);
    }
    change.store_row(tx)?;
    report(tx, change.article_id, replayed, change.event_id, now)?;
    Ok(LikeOutcome::Done(answer))
}

fn decide(tx: &Connection, change: &Change, before: LikeCount) -> Result<(LikeAnswer, Replayed), StoreError> {
    let liked_before = is_liked(tx, change.article_id, change.member_id)?;
    let mut replay = Replay::new(before, liked_before.then_some(change.member_id));
    let (state, changed) = replay.apply(change.member_id, change.row.is_some());
    let replayed = replay.finish();
    Ok((LikeAnswer { state, changed, committed: replayed.count }, replayed))
}

fn write_count(tx: &Connection, sql: &str, change: &Change, count: LikeCount) -> Result<usize, StoreError> {
    let mut set = tx.prepare_cached(sql).map_err(sql_error)?;
    set.execute(params![change.article_id.raw(), count.like_count as i64, count.version as i64]).map_err(sql_error)
}
