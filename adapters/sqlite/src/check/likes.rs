//! The like counters against the rows they count, and the newest events of likes against the counters they report.

use std::collections::HashSet;

use bytes::Bytes;
use madang_board::ArticleId;
use madang_board::check::{CheckFinding, CheckReport, FINDINGS_MAX};
use madang_engine_sqlite::{limit, sql_error};
use madang_event::{Envelope, Event, Topic};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::events::{EVENTS_MAX, NEWEST_EVENTS};

const LIKE_COUNTS: &str = include_str!("../../sql/check/like_counts.sql");
const LIKES_WITHOUT_COUNT: &str = include_str!("../../sql/check/likes_without_count.sql");
const FIND_COUNT: &str = include_str!("../../sql/like/find_count.sql");
const IS_GONE: &str = include_str!("../../sql/like/is_gone.sql");

/// Compares all likes; the caller holds one snapshot.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let differing = |row: &Row<'_>| {
        let article_id = ArticleId::from_raw(row.get(0)?);
        Ok(CheckFinding::LikeCount { article_id, counted: row.get(1)?, rows: row.get(2)? })
    };
    collect(tx, LIKE_COUNTS, differing, report)?;
    let uncounted = |row: &Row<'_>| {
        Ok(CheckFinding::UncountedLikes { article_id: ArticleId::from_raw(row.get(0)?), rows: row.get(1)? })
    };
    collect(tx, LIKES_WITHOUT_COUNT, uncounted, report)?;
    compare_events(tx, report)
}

fn collect(
    tx: &Connection,
    sql: &str,
    finding: impl FnMut(&Row<'_>) -> rusqlite::Result<CheckFinding>,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let mut statement = tx.prepare(sql).map_err(sql_error)?;
    let findings = statement.query_map([limit(FINDINGS_MAX)], finding).map_err(sql_error)?;
    for finding in findings {
        report.found(finding.map_err(sql_error)?);
    }
    Ok(())
}

/// Walks from the newest event to older ones: the first of each article must tell its counter.
fn compare_events(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut seen: HashSet<ArticleId> = HashSet::new();
    let mut statement = tx.prepare(NEWEST_EVENTS).map_err(sql_error)?;
    let mut entries = statement.query(params![Topic::Like.name(), EVENTS_MAX]).map_err(sql_error)?;
    while let Some(row) = entries.next().map_err(sql_error)? {
        let payload = Bytes::from(row.get::<_, Vec<u8>>(1).map_err(sql_error)?);
        match Envelope::decode(&payload) {
            Ok(envelope) if seen.insert(envelope.key) => compare_newest(tx, &envelope, report)?,
            Ok(_) => {}
            Err(error) => {
                let position = row.get(0).map_err(sql_error)?;
                report.found(CheckFinding::UnreadableEvent { position, reason: error.to_string() });
            }
        }
    }
    Ok(())
}

fn compare_newest(tx: &Connection, envelope: &Envelope, report: &mut CheckReport) -> Result<(), StoreError> {
    let Event::ArticleLikesChanged(likes) = &envelope.event else { return Ok(()) };
    let article_id = envelope.key;
    // The likes of a deleted article go without a word.
    if tx.prepare_cached(IS_GONE).and_then(|mut find| find.exists([article_id.raw()])).map_err(sql_error)? {
        return Ok(());
    }
    let mut find = tx.prepare_cached(FIND_COUNT).map_err(sql_error)?;
    let stored: Option<(i64, i64)> =
        find.query_row([article_id.raw()], |row| Ok((row.get(0)?, row.get(1)?))).optional().map_err(sql_error)?;
    let stored = stored.map(|(count, version)| (count.cast_unsigned(), version.cast_unsigned()));
    let reported = (likes.like_count, envelope.version);
    if stored != Some(reported) {
        report.found(CheckFinding::LikeEventDiffers { article_id, reported, stored });
    }
    Ok(())
}
