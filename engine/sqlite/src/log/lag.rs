//! How far each group is behind the log, found without counting what may be millions of rows.

use std::time::Duration;

use madang_kernel::Timestamp;
use madang_messaging::consumer::ladder::{is_rung, is_rung_of};
use madang_messaging::{GroupId, Outage, ToMessage};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteLog;
use super::groups::{GroupState, groups, head};
use crate::errors::{outage, sql_error};

const POSITIONS: &str = include_str!("../../sql/log/positions.sql");
const UNDONE: &str = include_str!("../../sql/log/undone.sql");
const LAST_OF_TOPIC: &str = include_str!("../../sql/log/last_of_topic.sql");

/// So many entries of a topic are counted one by one; more are estimated by their positions.
const COUNTED_MAX: u32 = 1_000;
/// A group with more entries before it than this is not caught up, whatever their times: nobody waits for a read of all.
const READ_MAX: u32 = 10_000;

/// What a group still has to do. Offsets are stored a moment after the work, so a little of it may be done already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Entries not done. Exact while every topic has at most 1,000; else never too low, and too high by at most the
    /// entries of other topics in between.
    pub entries: u64,
    /// Whether `entries` was counted.
    pub is_exact: bool,
    /// How long ago the oldest of them occurred; `None` when there is none.
    pub oldest_age: Option<Duration>,
}

/// How far a group is behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLag {
    /// The group.
    pub group: GroupId,
    /// In the topics it reads.
    pub topics: Backlog,
    /// On the rungs of its retry ladder, where entries wait on purpose.
    pub rungs: Backlog,
    /// It lost entries to retention and has not rebuilt yet.
    pub fell_behind: bool,
}

/// What is not done in one topic.
struct Undone {
    entries: u64,
    is_exact: bool,
    first: i64,
    occurred_at: Timestamp,
}

impl<E: ToMessage> SqliteLog<E> {
    /// How far each group is behind, in the order of their names.
    pub async fn lag(&self) -> Result<Vec<GroupLag>, Outage> {
        let now = self.db.clock().now();
        self.db.read(move |snapshot| lag(snapshot, now).map_err(sql_error)).await.map_err(outage)
    }

    /// Whether no entry of these topics, nor of the group's rungs for them, that occurred before `before` is still to be
    /// done. Never true too early; false also for a group that fell behind, is unknown, or has more before it than can
    /// be read quickly.
    pub async fn caught_up(&self, group: &GroupId, topics: &[String], before: Timestamp) -> Result<bool, Outage> {
        let (group, topics) = (group.clone(), topics.to_vec());
        let read = self.db.read(move |snapshot| caught_up(snapshot, &group, &topics, before).map_err(sql_error));
        read.await.map_err(outage)
    }
}

fn lag(snapshot: &Connection, now: Timestamp) -> rusqlite::Result<Vec<GroupLag>> {
    let head = head(snapshot)?;
    let mut lags = Vec::new();
    for states in groups(snapshot)?.chunk_by(|one, next| one.group == next.group) {
        let Some(GroupState { group, .. }) = states.first() else { continue };
        let (mut topics, mut rungs) = (Vec::new(), Vec::new());
        for state in states {
            let side = if is_rung(&state.topic, group) { &mut rungs } else { &mut topics };
            side.extend(undone(snapshot, state)?);
        }
        let fell_behind = states.iter().any(|state| state.fell_behind);
        let (topics, rungs) = (backlog(&topics, head, now), backlog(&rungs, head, now));
        lags.push(GroupLag { group: group.clone(), topics, rungs, fell_behind });
    }
    Ok(lags)
}

/// Several topics together: never more than there are positions from the first of them to the end of the log.
fn backlog(undone: &[Undone], head: i64, now: Timestamp) -> Backlog {
    let sum: u64 = undone.iter().map(|topic| topic.entries).sum();
    let first = undone.iter().map(|topic| topic.first).min();
    let room = first.map_or(0, |first| head.abs_diff(first) + 1);
    Backlog {
        entries: sum.min(room),
        is_exact: undone.iter().all(|topic| topic.is_exact),
        oldest_age: undone.iter().map(|topic| now.since(topic.occurred_at)).max(),
    }
}

fn undone(snapshot: &Connection, state: &GroupState) -> rusqlite::Result<Option<Undone>> {
    let mut oldest = snapshot.prepare_cached(UNDONE)?;
    let oldest = oldest.query_row(params![state.topic, state.done, 1], |row| Ok((row.get(0)?, row.get(1)?)));
    let Some((first, occurred_at)) = oldest.optional()? else { return Ok(None) };
    let counted = count(snapshot, state)?;
    let is_exact = counted <= COUNTED_MAX;
    let entries = if is_exact {
        u64::from(counted)
    } else {
        let last: i64 = snapshot.prepare_cached(LAST_OF_TOPIC)?.query_row([&state.topic], |row| row.get(0))?;
        last.abs_diff(first) + 1
    };
    Ok(Some(Undone { entries, is_exact, first, occurred_at: Timestamp::from_millis(occurred_at) }))
}

/// Counts one more than is exact, and stops.
fn count(snapshot: &Connection, state: &GroupState) -> rusqlite::Result<u32> {
    let mut positions = snapshot.prepare_cached(POSITIONS)?;
    let mut rows = positions.query(params![state.topic, state.done, COUNTED_MAX + 1])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn caught_up(snapshot: &Connection, group: &GroupId, topics: &[String], before: Timestamp) -> rusqlite::Result<bool> {
    let mut states = groups(snapshot)?;
    states.retain(|state| state.group == *group);
    let mut left = READ_MAX;
    for topic in topics {
        if !states.iter().any(|state| state.topic == *topic) {
            return Ok(false);
        }
        for state in states.iter().filter(|state| state.topic == *topic || is_rung_of(&state.topic, topic, group)) {
            if state.fell_behind || !is_done_before(snapshot, state, before, &mut left)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Reads every entry not done: a clock that was set back, or a retry, puts an old one behind newer ones.
fn is_done_before(
    snapshot: &Connection,
    state: &GroupState,
    before: Timestamp,
    left: &mut u32,
) -> rusqlite::Result<bool> {
    let mut undone = snapshot.prepare_cached(UNDONE)?;
    let mut rows = undone.query(params![state.topic, state.done, *left + 1])?;
    while let Some(row) = rows.next()? {
        if *left == 0 || row.get::<_, i64>(1)? < before.as_millis() {
            return Ok(false);
        }
        *left -= 1;
    }
    Ok(true)
}
