//! The scores of the present day against the counters they come from. Counters change with the event that tells of it, so
//! once an article's events are consumed, its score has the same counts at the same versions.
//!
//! Only the present day can be compared: counters go on after a day has ended, and its scores do not.

use std::collections::HashSet;
use std::time::Duration;

use madang_board::ArticleId;
use madang_board::check::{ArticlePart, CheckReport, HotFinding};
use madang_engine_sqlite::{Statements as _, sql_error};
use madang_event::Topic;
use madang_hot_article::Day;
use madang_kernel::{Clock, ID_EPOCH_MS, Id, NODE_BITS, SEQUENCE_BITS, SHARD_BITS, StoreError, Timestamp};
use rusqlite::{Connection, Row, params};

use super::CheckDerived;
use super::backlog::backlog;

const LIKES: &str = include_str!("../../sql/check/like_counts_of_day.sql");
const COMMENTS: &str = include_str!("../../sql/check/comment_counts_of_day.sql");
const VIEWS: &str = include_str!("../../sql/check/view_counts_of_day.sql");
const IS_SCORED: &str = include_str!("../../sql/check/is_scored.sql");
const WITHOUT_COUNTER: &str = include_str!("../../sql/check/scores_without_counter.sql");
const PRESENCE: &str = include_str!("../../sql/check/scores_and_articles.sql");

/// How far an id may lie ahead of the clock: one written just before midnight may name the next day, and what happened to
/// its article before midnight counts on neither.
const ID_AHEAD_MAX_MS: u64 = 10_000;

/// Articles of one day, and those of them that may differ.
struct Today {
    day: Day,
    /// The days before and after it.
    beside: [Day; 2],
    first: i64,
    end: i64,
    backlog: HashSet<ArticleId>,
}

/// Compares the scores of the present day; the caller holds one snapshot.
pub(super) fn compare(
    tx: &Connection,
    derived: &CheckDerived,
    clock: &dyn Clock,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let backlog = match backlog(tx, &derived.hot_group, &Topic::ALL)? {
        Ok(articles) => articles,
        Err(reason) => {
            report.left_out.push(format!("scores with the counters of today: {reason}"));
            return Ok(());
        }
    };
    // Asked after the snapshot was taken, so that everything in it occurred on this day or before.
    let day = derived.days.day_of(clock.now());
    let first = derived.days.start_of(day).plus(Duration::from_millis(ID_AHEAD_MAX_MS));
    let end = derived.days.end_of(day);
    let beside = [day.minus(1), derived.days.day_of(end)];
    let today = Today { day, beside, first: first_id(first), end: first_id(end), backlog };
    for (sql, part) in [(LIKES, ArticlePart::Likes), (COMMENTS, ArticlePart::Comments), (VIEWS, ArticlePart::Views)] {
        compare_counters(tx, sql, part, &today, report)?;
    }
    compare_scores(tx, &today, report)?;
    compare_presence(tx, &today, report)
}

/// The least id that can be issued at a moment.
fn first_id(moment: Timestamp) -> i64 {
    moment.as_millis().saturating_sub(ID_EPOCH_MS).max(0) << (SHARD_BITS + NODE_BITS + SEQUENCE_BITS)
}

/// Every counter of today's articles has its score.
fn compare_counters(
    tx: &Connection,
    sql: &str,
    part: ArticlePart,
    today: &Today,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let mut statement = tx.prepare(sql).map_err(sql_error)?;
    let read = |row: &Row<'_>| {
        let scored = row.get::<_, Option<i64>>(3)?.zip(row.get(4)?);
        Ok((ArticleId::from_raw(row.get(0)?), (row.get(1)?, row.get(2)?), scored))
    };
    let rows = statement.query_map(params![today.first, today.end, today.day.number()], read).map_err(sql_error)?;
    for row in rows {
        let (article_id, counted, scored) = row.map_err(sql_error)?;
        report.hot_sources += 1;
        let differs = scored != Some(counted) && !today.backlog.contains(&article_id);
        if differs && (scored.is_some() || !is_of_another_day(tx, today.beside, article_id)?) {
            report.found(HotFinding::Source { article_id, part, scored, counted: Some(counted) });
        }
        if report.is_full() {
            break;
        }
    }
    Ok(())
}

/// Whether an article is scored on a day beside its own: the site's time zone was another when the events were consumed.
fn is_of_another_day(tx: &Connection, beside: [Day; 2], article: ArticleId) -> Result<bool, StoreError> {
    for day in beside {
        if tx.exists(IS_SCORED, [day.number(), article.raw()])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every score of today's articles has its counters.
fn compare_scores(tx: &Connection, today: &Today, report: &mut CheckReport) -> Result<(), StoreError> {
    tx.each(WITHOUT_COUNTER, params![today.day.number(), today.first], |row| {
        let number = |column| row.get::<_, i64>(column);
        let article_id = ArticleId::from_raw(number(0)?);
        for (place, part) in [ArticlePart::Likes, ArticlePart::Comments, ArticlePart::Views].into_iter().enumerate() {
            let scored = (number(1 + 2 * place)?, number(2 + 2 * place)?);
            let is_counted = number(7 + place)? != 0;
            if scored != (0, 0) && !is_counted && !today.backlog.contains(&article_id) {
                report.found(HotFinding::Source { article_id, part, scored: Some(scored), counted: None });
            }
        }
        Ok(!report.is_full())
    })
}

/// What is deleted has no score, and what is there is not scored as deleted.
fn compare_presence(tx: &Connection, today: &Today, report: &mut CheckReport) -> Result<(), StoreError> {
    tx.each(PRESENCE, params![today.day.number(), today.first], |row| {
        let (article_id, is_there) = (ArticleId::from_raw(row.get(0)?), row.get(1)?);
        if !today.backlog.contains(&article_id) {
            report.found(HotFinding::Presence { article_id, is_there });
        }
        Ok(!report.is_full())
    })
}
