//! Compares every counter with the rows it counts, and the newest events with what they report.
//!
//! Runs beside the server on a connection and a thread of its own, so that no reader of the pool is held up. Each board is
//! compared within one snapshot, so that writers at work cause no false alarm.

mod backlog;
mod board;
mod comments;
mod events;
mod hot;
mod hot_source;
mod likes;
mod options;
mod orphans;
mod views;

use madang_board::BoardId;
use madang_board::check::{CheckFinding, CheckProgress, CheckReport, TableSizes};
use madang_engine_sqlite::{PART, Statements as _, sql_error};
use madang_kernel::{Clock, Id, StoreError};
use rusqlite::{Connection, OpenFlags, Row};

pub use options::{CheckDerived, CheckOptions};

use crate::Sqlite;

const BOARDS_WITHOUT_COUNT: &str = include_str!("../../sql/check/boards_without_count.sql");
const ARTICLES_TOTAL: &str = include_str!("../../sql/check/articles_total.sql");
const OFFSETS_PAST_HEAD: &str = include_str!("../../sql/check/offsets_past_head.sql");
const SIZES: &str = include_str!("../../sql/check/sizes.sql");
const PARTS_TOTAL: &str = include_str!("../../sql/check/parts_total.sql");

/// Compares counters, blocks and events with the rows; tells how far it is after each board.
pub async fn check(
    db: &Sqlite,
    options: CheckOptions,
    progress: impl FnMut(CheckProgress) + Send + 'static,
) -> Result<CheckReport, StoreError> {
    let path = db.read(|reader| Ok(reader.path().unwrap_or_default().to_owned())).await?;
    let clock = db.clock().clone();
    let work = move || run(&path, &options, clock.as_ref(), progress);
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::broken("check", error))?
}

/// Rows of the tables that must stay bounded. Counts them, so ask every few minutes, not every second.
pub async fn sizes(db: &Sqlite) -> Result<TableSizes, StoreError> {
    db.read(count_bounded).await
}

fn run(
    path: &str,
    options: &CheckOptions,
    clock: &dyn Clock,
    mut progress: impl FnMut(CheckProgress),
) -> Result<CheckReport, StoreError> {
    let reader = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(sql_error)?;
    let mut report = CheckReport::default();
    let boards = board::ids(&reader)?;
    for board in &boards {
        in_snapshot(&reader, |tx| board::compare(tx, *board, &mut report))?;
        report.boards += 1;
        progress(CheckProgress { done: report.boards, total: boards.len() as u64 });
    }
    in_snapshot(&reader, |tx| compare_whole(tx, &mut report))?;
    in_snapshot(&reader, |tx| comments::compare(tx, &mut report))?;
    in_snapshot(&reader, |tx| views::compare(tx, &mut report))?;
    in_snapshot(&reader, |tx| likes::compare(tx, &mut report))?;
    in_snapshot(&reader, |tx| hot::compare(tx, &mut report))?;
    if let Some(derived) = &options.derived {
        in_snapshot(&reader, |tx| orphans::compare(tx, derived, &mut report))?;
        in_snapshot(&reader, |tx| hot_source::compare(tx, derived, clock, &mut report))?;
    }
    if options.integrity {
        integrity(&reader, &mut report)?;
    }
    Ok(report)
}

/// What no single board shows.
fn compare_whole(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    tx.each(BOARDS_WITHOUT_COUNT, [], |row| {
        report.found(CheckFinding::NoCounter { board_id: BoardId::from_raw(row.get(0)?) });
        Ok(true)
    })?;
    let total: i64 = tx.one(ARTICLES_TOTAL, [], |row| row.get(0))?;
    let counted = board::counted_total(tx)?;
    if total != counted {
        report.found(CheckFinding::StrayArticles { rows: total, counted });
    }
    tx.each(OFFSETS_PAST_HEAD, [], |row| {
        let (group, topic, done, head) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        report.found(CheckFinding::OffsetPastHead { group, topic, done, head });
        Ok(true)
    })?;
    events::compare(tx, total, report)?;
    report.sizes = count_bounded(tx)?;
    count_parts(tx, report)
}

/// How much of each kind there is to compare.
fn count_parts(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let rows: [i64; 4] = tx.one(PARTS_TOTAL, [], four)?;
    [report.comments, report.likes, report.view_counts, report.hot_scores] = rows.map(i64::cast_unsigned);
    Ok(())
}

fn integrity(reader: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    reader.each("PRAGMA quick_check(100)", [], |row| {
        match row.get::<_, String>(0)? {
            fine if fine == "ok" => {}
            message => report.found(CheckFinding::Corrupt { message }),
        }
        Ok(true)
    })
}

fn count_bounded(tx: &Connection) -> Result<TableSizes, StoreError> {
    let rows: [i64; 4] = tx.one(SIZES, [], four)?;
    let [log, idempotency, dead_letters, revocations] = rows.map(i64::cast_unsigned);
    Ok(TableSizes::from([
        (TableSizes::EVENT_LOG, log),
        (TableSizes::IDEMPOTENCY, idempotency),
        (TableSizes::DEAD_LETTERS, dead_letters),
        (TableSizes::REVOCATIONS, revocations),
    ]))
}

fn four(row: &Row<'_>) -> rusqlite::Result<[i64; 4]> {
    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
}

fn in_snapshot(
    reader: &Connection,
    compare: impl FnOnce(&Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let snapshot = reader.unchecked_transaction().map_err(|error| StoreError::unavailable(PART, error.to_string()))?;
    compare(&snapshot)?;
    snapshot.finish().map_err(sql_error)
}
