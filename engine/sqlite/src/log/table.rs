//! Polls answered from the table of the log, where the tail in memory does not reach back far enough.

use madang_messaging::{Delivery, GroupId, Position};
use rusqlite::{Connection, OptionalExtension, params};

use super::groups::{PARTITION, head};
use super::tail::Cursor;
use crate::rows;

const FIND_GROUP: &str = include_str!("../../sql/log/find_group.sql");
const POSITIONS: &str = include_str!("../../sql/log/positions.sql");
const READ: &str = include_str!("../../sql/log/read.sql");

/// What a poll of the table found.
pub(super) enum TablePoll {
    /// Entries in the order of their positions, and how far each topic is read with them.
    Found { deliveries: Vec<Delivery>, cursors: Vec<Cursor> },
    /// The group was marked as fallen behind.
    FellBehind { head: i64 },
}

/// How far a group has come in a topic, and whether it is marked.
pub(super) fn state(connection: &Connection, group: &GroupId, topic: &str) -> rusqlite::Result<(i64, bool)> {
    let mut find = connection.prepare_cached(FIND_GROUP)?;
    let found = find.query_row(params![group.as_str(), topic], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(found.unwrap_or((0, false)))
}

/// The oldest `max` entries after the cursors, all topics together; of each topic no more payload than `bytes_max`, the
/// last entry aside.
pub(super) fn poll(
    snapshot: &Connection,
    group: &GroupId,
    mut cursors: Vec<Cursor>,
    max: usize,
    bytes_max: usize,
) -> rusqlite::Result<TablePoll> {
    let head = head(snapshot)?;
    for cursor in &cursors {
        if state(snapshot, group, &cursor.topic)?.1 {
            return Ok(TablePoll::FellBehind { head });
        }
    }
    let upto = if cursors.len() > 1 { reach(snapshot, &cursors, max)? } else { i64::MAX };
    let mut deliveries = Vec::new();
    for cursor in &mut cursors {
        let whole = read(snapshot, cursor, upto, max, bytes_max, &mut deliveries)?;
        if whole {
            // What is not there up to here never will be: positions come in commit order.
            cursor.polled = cursor.polled.max(upto.min(head));
        }
    }
    deliveries.sort_unstable_by_key(|delivery| delivery.position.offset);
    Ok(TablePoll::Found { deliveries, cursors })
}

/// The position up to which the topics hold `max` entries together: nothing is read from one topic only to be dropped
/// because another has older entries.
fn reach(snapshot: &Connection, cursors: &[Cursor], max: usize) -> rusqlite::Result<i64> {
    let mut positions: Vec<i64> = Vec::new();
    let mut statement = snapshot.prepare_cached(POSITIONS)?;
    for Cursor { topic, polled } in cursors {
        let mut found = statement.query(params![topic, polled, rows::limit(max)])?;
        while let Some(row) = found.next()? {
            positions.push(row.get(0)?);
        }
    }
    if positions.len() <= max {
        return Ok(i64::MAX);
    }
    let (_, last, _) = positions.select_nth_unstable(max.saturating_sub(1));
    Ok(*last)
}

/// Reads on in a topic; true when nothing up to `upto` is left in it.
fn read(
    snapshot: &Connection,
    cursor: &mut Cursor,
    upto: i64,
    max: usize,
    bytes_max: usize,
    found: &mut Vec<Delivery>,
) -> rusqlite::Result<bool> {
    let (first, mut bytes) = (found.len(), 0);
    let mut statement = snapshot.prepare_cached(READ)?;
    let mut entries = statement.query(params![cursor.topic, cursor.polled, rows::limit(max), upto])?;
    while bytes < bytes_max {
        let Some(row) = entries.next()? else { return Ok(found.len() - first < max) };
        let message = rows::message(row, 1)?;
        bytes += message.payload.len();
        let position = Position { topic: cursor.topic.clone(), partition: PARTITION, offset: row.get(0)? };
        cursor.polled = position.offset;
        found.push(Delivery { position, message });
    }
    Ok(false)
}
