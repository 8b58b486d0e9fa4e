//! Retention: the log keeps what somebody still has to read, what is recent, and never more than the hard bound.

use std::time::Duration;

use madang_kernel::Timestamp;
use madang_messaging::{GroupId, Outage, ToMessage};
use rusqlite::{OptionalExtension, params};
use tracing::warn;

use super::SqliteLog;
use super::groups::{GroupState, groups};
use crate::errors::{outage, sql_error};
use crate::{Priority, Tx};

const MARK: &str = include_str!("../../sql/log/mark_fell_behind.sql");
const POSITIONS: &str = include_str!("../../sql/log/positions.sql");
const OLDEST_SLICE: &str = include_str!("../../sql/log/oldest_slice.sql");
const TRIM: &str = include_str!("../../sql/log/trim.sql");

/// How much the log keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionOptions {
    /// Entries kept although everybody has read them.
    pub keep_rows: u64,
    /// How long such entries are kept at most.
    pub keep_for: Duration,
    /// A group with more than this before it no longer holds the log back.
    pub hard_max_rows: u64,
    /// Entries removed in one transaction.
    pub slice: u32,
}

impl Default for RetentionOptions {
    fn default() -> Self {
        Self { keep_rows: 500_000, keep_for: Duration::from_secs(3_600), hard_max_rows: 5_000_000, slice: 500 }
    }
}

/// What a trim did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trimmed {
    /// Entries removed.
    pub removed: u64,
    /// Groups that fell behind, with the topic in which they did.
    pub fell_behind: Vec<(GroupId, String)>,
}

struct Slice {
    removed: u64,
    more: bool,
    fell_behind: Vec<(GroupId, String)>,
}

/// What the groups still need.
struct Slowest {
    needed_from: Option<i64>,
    fell_behind: Vec<(GroupId, String)>,
}

impl<E: ToMessage> SqliteLog<E> {
    /// Removes the entries below the slowest group that are too old at `now` or too many, slice by slice while nobody waits.
    pub async fn trim(&self, options: RetentionOptions, now: Timestamp) -> Result<Trimmed, Outage> {
        let mut trimmed = Trimmed::default();
        loop {
            let slice = self.db.write(Priority::Background, move |tx| trim_slice(tx, options, now).map_err(sql_error));
            let slice = slice.await.map_err(outage)?;
            trimmed.removed += slice.removed;
            trimmed.fell_behind.extend(slice.fell_behind);
            if !slice.more {
                break;
            }
        }
        for (group, topic) in &trimmed.fell_behind {
            warn!(
                "consumer group {group} was too far behind in {topic}, and entries that it had not read were removed: rebuild what it keeps with `madang rebuild`"
            );
        }
        Ok(trimmed)
    }
}

fn trim_slice<E>(tx: &Tx<E>, options: RetentionOptions, now: Timestamp) -> rusqlite::Result<Slice> {
    let head = tx.head()?;
    let Slowest { needed_from, fell_behind } = slowest(tx, head, options.hard_max_rows)?;
    let surplus_to = head.saturating_sub_unsigned(options.keep_rows);
    let removable = |position: i64, occurred_at: i64| {
        let old = now.since(Timestamp::from_millis(occurred_at)) > options.keep_for;
        needed_from.is_none_or(|needed| position < needed) && (old || position <= surplus_to)
    };

    let slice = options.slice.max(1);
    let mut oldest = tx.prepare_cached(OLDEST_SLICE)?;
    let mut entries = oldest.query([slice])?;
    let mut removed_to = None;
    // Stops at the first entry that stays, so that what is kept has no holes.
    while let Some(row) = entries.next()? {
        let position = row.get(0)?;
        if !removable(position, row.get(1)?) {
            break;
        }
        removed_to = Some(position);
    }
    drop(entries);
    let removed = match removed_to {
        Some(position) => tx.prepare_cached(TRIM)?.execute([position])? as u64,
        None => 0,
    };
    Ok(Slice { removed, more: removed == u64::from(slice), fell_behind })
}

/// The first position that some group still has to read; marks the groups that are too far behind to be waited for.
fn slowest<E>(tx: &Tx<E>, head: i64, hard_max_rows: u64) -> rusqlite::Result<Slowest> {
    let mut needed_from: Option<i64> = None;
    let mut fell_behind = Vec::new();
    for state in groups(tx)?.into_iter().filter(|state| !state.fell_behind) {
        let GroupState { group, topic, done, .. } = state;
        let mut first_after = tx.prepare_cached(POSITIONS)?;
        let Some(next) = first_after.query_row(params![topic, done, 1], |row| row.get::<_, i64>(0)).optional()? else {
            continue;
        };
        if head.abs_diff(next) >= hard_max_rows {
            tx.prepare_cached(MARK)?.execute(params![group.as_str(), topic])?;
            tx.note_mark();
            fell_behind.push((group, topic));
        } else {
            needed_from = Some(needed_from.map_or(next, |needed| needed.min(next)));
        }
    }
    Ok(Slowest { needed_from, fell_behind })
}
