//! The like counters against the rows they count, and the newest events of likes against the counters they report.

use std::collections::HashSet;

use madang_board::ArticleId;
use madang_board::check::{CheckFinding, CheckReport, FINDINGS_MAX};
use madang_engine_sqlite::{Statements as _, limit};
use madang_event::{Envelope, Event, Topic};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use super::events::newest_events_of;

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
    mut finding: impl FnMut(&Row<'_>) -> rusqlite::Result<CheckFinding>,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    tx.each(sql, [limit(FINDINGS_MAX)], |row| {
        report.found(finding(row)?);
        Ok(true)
    })
}

/// Walks from the newest event to older ones: the first of each article must tell its counter.
fn compare_events(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut seen: HashSet<ArticleId> = HashSet::new();
    newest_events_of(tx, Topic::Like, report, |envelope, report| match seen.insert(envelope.key) {
        true => compare_newest(tx, &envelope, report),
        false => Ok(()),
    })?;
    Ok(())
}

fn compare_newest(tx: &Connection, envelope: &Envelope, report: &mut CheckReport) -> Result<(), StoreError> {
    let Event::ArticleLikesChanged(likes) = &envelope.event else { return Ok(()) };
    let article_id = envelope.key;
    // The likes of a deleted article go without a word.
    if tx.exists(IS_GONE, [article_id.raw()])? {
        return Ok(());
    }
    let stored: Option<(i64, i64)> = tx.find(FIND_COUNT, [article_id.raw()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stored = stored.map(|(count, version)| (count.cast_unsigned(), version.cast_unsigned()));
    let reported = (likes.like_count, envelope.version);
    if stored != Some(reported) {
        report.found(CheckFinding::LikeEventDiffers { article_id, reported, stored });
    }
    Ok(())
}
