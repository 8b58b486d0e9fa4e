//! The newest events of the log against the articles they report: each created once, the last one telling its state.

use std::collections::HashMap;

use bytes::Bytes;
use madang_board::ArticleId;
use madang_board::check::{CheckFinding, CheckReport};
use madang_engine_sqlite::{Statements as _, sql_error};
use madang_event::{Envelope, Event, Topic};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, params};

const NEWEST_EVENTS: &str = include_str!("../../sql/check/newest_events.sql");
const ARTICLE_VERSION: &str = include_str!("../../sql/check/article_version.sql");

/// Events read at most: bounds the memory of a check on a large log.
const EVENTS_MAX: i64 = 200_000;

/// How far a walk over events went.
pub(super) struct Walked {
    events: u64,
    /// The position of the oldest event; 0 without any.
    oldest: i64,
}

/// Shows the newest events of a topic, one after the other to older ones; one that cannot be read is a finding.
pub(super) fn newest_events_of(
    tx: &Connection,
    topic: Topic,
    report: &mut CheckReport,
    mut look: impl FnMut(Envelope, &mut CheckReport) -> Result<(), StoreError>,
) -> Result<Walked, StoreError> {
    let mut walked = Walked { events: 0, oldest: 0 };
    let mut statement = tx.prepare(NEWEST_EVENTS).map_err(sql_error)?;
    let mut entries = statement.query(params![topic.name(), EVENTS_MAX]).map_err(sql_error)?;
    while let Some(row) = entries.next().map_err(sql_error)? {
        walked = Walked { events: walked.events + 1, oldest: row.get(0).map_err(sql_error)? };
        match Envelope::decode(&Bytes::from(row.get::<_, Vec<u8>>(1).map_err(sql_error)?)) {
            Ok(envelope) => look(envelope, report)?,
            Err(error) => {
                report.found(CheckFinding::UnreadableEvent { position: walked.oldest, reason: error.to_string() });
            }
        }
    }
    Ok(walked)
}

/// Compares the events of articles; the caller holds one snapshot, in which there are `articles` rows.
pub(super) fn compare(tx: &Connection, articles: i64, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut created: HashMap<ArticleId, bool> = HashMap::new();
    let mut alive = 0;
    let walked = newest_events_of(tx, Topic::Article, report, |envelope, report| {
        let is_creation = matches!(envelope.event, Event::ArticleCreated(_));
        match created.get_mut(&envelope.key) {
            Some(true) if is_creation => {
                report.found(CheckFinding::CreatedTwice { article_id: envelope.key });
            }
            Some(seen) => *seen |= is_creation,
            None => {
                created.insert(envelope.key, is_creation);
                alive += i64::from(compare_newest(tx, &envelope, report)?);
            }
        }
        Ok(())
    })?;
    report.events += walked.events;
    // Position 1 still being there means that nothing was ever trimmed.
    if walked.oldest == 1 && alive < articles {
        report.found(CheckFinding::Unreported { articles: articles - alive });
    }
    Ok(())
}

/// Compares an article with its newest event; true when the article is there.
fn compare_newest(tx: &Connection, envelope: &Envelope, report: &mut CheckReport) -> Result<bool, StoreError> {
    let stored: Option<i64> = tx.find(ARTICLE_VERSION, [envelope.key.raw()], |row| row.get(0))?;
    let stored = stored.map(i64::cast_unsigned);
    let reported = match envelope.event {
        Event::ArticleDeleted(_) => None,
        Event::ArticleCreated(_) | Event::ArticleEdited(_) | Event::ArticleRestored(_) => Some(envelope.version),
        // Not of this topic: whatever it says, it says nothing of the row.
        Event::CommentCreated(_)
        | Event::CommentEdited(_)
        | Event::CommentDeleted(_)
        | Event::ArticleLockChanged(_)
        | Event::ArticleLikesChanged(_)
        | Event::ArticleViewed(_) => return Ok(stored.is_some()),
    };
    if stored != reported {
        report.found(CheckFinding::EventDiffers { article_id: envelope.key, reported, stored });
    }
    Ok(stored.is_some())
}
