//! View counts: none of an article that is gone, none that changed more often than it counts, and each as its newest event
//! reports it.

use std::collections::BTreeMap;

use bytes::Bytes;
use madang_board::ArticleId;
use madang_board::check::{CheckFinding, CheckReport, ViewFinding};
use madang_engine_sqlite::sql_error;
use madang_event::{Envelope, Event, Topic};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row, params};

const VIEW_COUNTS: &str = include_str!("../../sql/check/view_counts.sql");
const VIEW_STATE: &str = include_str!("../../sql/view/find.sql");
const NEWEST_EVENTS: &str = include_str!("../../sql/check/newest_events.sql");

/// Events read at most: bounds the memory of a check on a large log.
const EVENTS_MAX: i64 = 200_000;

/// Compares every count, then the newest events; the caller holds one snapshot.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    compare_rows(tx, report)?;
    for (article_id, (version, count)) in newest_events(tx, report)? {
        let (stored, is_gone) = state(tx, article_id)?;
        if !is_gone && stored != Some((version, count)) {
            let finding = ViewFinding::EventDiffers { article_id, reported: (version, count), stored };
            report.found(finding);
        }
    }
    Ok(())
}

fn compare_rows(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut statement = tx.prepare(VIEW_COUNTS).map_err(sql_error)?;
    let read = |row: &Row<'_>| Ok((ArticleId::from_raw(row.get(0)?), row.get(1)?, row.get(2)?, row.get(3)?));
    for row in statement.query_map([], read).map_err(sql_error)? {
        let (article_id, counted, version, is_gone): (_, i64, i64, bool) = row.map_err(sql_error)?;
        if is_gone {
            report.found(ViewFinding::CountOfGone { article_id, counted });
        }
        if version > counted {
            report.found(ViewFinding::CountVersion { article_id, counted, version });
        }
    }
    Ok(())
}

/// Version and count of each article's newest event.
fn newest_events(tx: &Connection, report: &mut CheckReport) -> Result<BTreeMap<ArticleId, (i64, i64)>, StoreError> {
    let mut newest = BTreeMap::new();
    let mut statement = tx.prepare(NEWEST_EVENTS).map_err(sql_error)?;
    let mut entries = statement.query(params![Topic::View.name(), EVENTS_MAX]).map_err(sql_error)?;
    while let Some(row) = entries.next().map_err(sql_error)? {
        let payload = Bytes::from(row.get::<_, Vec<u8>>(1).map_err(sql_error)?);
        match Envelope::decode(&payload) {
            Ok(Envelope { key, version, event: Event::ArticleViewed(views), .. }) => {
                newest.entry(key).or_insert((version.cast_signed(), views.view_count.cast_signed()));
            }
            // Not of this topic: it says nothing of views.
            Ok(_) => {}
            Err(error) => {
                let (position, reason) = (row.get(0).map_err(sql_error)?, error.to_string());
                report.found(CheckFinding::UnreadableEvent { position, reason });
            }
        }
    }
    Ok(newest)
}

/// Version and count as stored, and whether the article is gone.
fn state(tx: &Connection, article: ArticleId) -> Result<(Option<(i64, i64)>, bool), StoreError> {
    let mut statement = tx.prepare_cached(VIEW_STATE).map_err(sql_error)?;
    let read = |row: &Row<'_>| {
        let (count, version) = (row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?);
        Ok((version.zip(count), row.get(2)?))
    };
    statement.query_row([article.raw()], read).map_err(sql_error)
}
