//! View counts: none of an article that is gone, none that changed more often than it counts, and each as its newest event
//! reports it.

use std::collections::BTreeMap;

use madang_board::ArticleId;
use madang_board::check::{CheckReport, ViewFinding};
use madang_engine_sqlite::Statements as _;
use madang_event::{Envelope, Event, Topic};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use super::events::newest_events_of;

const VIEW_COUNTS: &str = include_str!("../../sql/check/view_counts.sql");
const VIEW_STATE: &str = include_str!("../../sql/view/find.sql");

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
    tx.each(VIEW_COUNTS, [], |row| {
        let (article_id, counted, version): (_, i64, i64) =
            (ArticleId::from_raw(row.get(0)?), row.get(1)?, row.get(2)?);
        if row.get(3)? {
            report.found(ViewFinding::CountOfGone { article_id, counted });
        }
        if version > counted {
            report.found(ViewFinding::CountVersion { article_id, counted, version });
        }
        Ok(true)
    })
}

/// Version and count of each article's newest event.
fn newest_events(tx: &Connection, report: &mut CheckReport) -> Result<BTreeMap<ArticleId, (i64, i64)>, StoreError> {
    let mut newest = BTreeMap::new();
    newest_events_of(tx, Topic::View, report, |Envelope { key, version, event, .. }, _| {
        // What is not of this topic says nothing of views.
        if let Event::ArticleViewed(views) = event {
            newest.entry(key).or_insert((version.cast_signed(), views.view_count.cast_signed()));
        }
        Ok(())
    })?;
    Ok(newest)
}

/// Version and count as stored, and whether the article is gone.
fn state(tx: &Connection, article: ArticleId) -> Result<(Option<(i64, i64)>, bool), StoreError> {
    let read = |row: &Row<'_>| {
        let (count, version) = (row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?);
        Ok((version.zip(count), row.get(2)?))
    };
    tx.one(VIEW_STATE, [article.raw()], read)
}
