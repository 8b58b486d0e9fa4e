//! Grouped counting: reads what a batch of calls needs, replays them in memory in their order, and writes the result once.

use std::collections::{BTreeMap, HashMap};

use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::{PART, Statements as _};
use madang_kernel::{EventId, Id, StoreError, Timestamp};
use madang_like::{LikeAnswer, LikeCount, LikeOutcome, Replay, Replayed, events};
use rusqlite::Connection;
use serde::Serialize;

use super::change::{Change, NewRow};
use super::read;
use crate::Tx;

const EXISTING: &str = include_str!("../../sql/like/existing.sql");
const INSERT_MANY: &str = include_str!("../../sql/like/insert_many.sql");
const DELETE_MANY: &str = include_str!("../../sql/like/delete_many.sql");
const SET_COUNTS: &str = include_str!("../../sql/like/set_counts.sql");

/// One article of a batch; `None` in its place when it is gone.
struct Batched {
    replay: Replay,
    /// The first call that changed something names the event.
    event_id: Option<EventId>,
}

/// What a batch writes, as the statements take it.
#[derive(Default)]
struct Writes<'a> {
    inserts: Vec<(i64, i64, &'a str, i64)>,
    deletes: Vec<(i64, i64)>,
    counts: Vec<(i64, u64, u64)>,
}

/// Decides calls in their order. Every article that changed gets one version more and one event.
pub(super) fn decide(tx: &Tx, calls: &[Change], now: Timestamp) -> Result<Vec<LikeOutcome>, StoreError> {
    let mut batch = load(tx, calls)?;
    let mut rows: HashMap<(ArticleId, MemberId), &NewRow> = HashMap::new();
    let mut outcomes = Vec::with_capacity(calls.len());
    for call in calls {
        let Some(Some(article)) = batch.get_mut(&call.article_id) else {
            outcomes.push(LikeOutcome::Gone);
            continue;
        };
        let (state, changed) = article.replay.apply(call.member_id, call.row.is_some());
        if changed {
            article.event_id.get_or_insert(call.event_id);
            if let Some(row) = &call.row {
                rows.insert((call.article_id, call.member_id), row);
            }
        }
        outcomes.push(LikeOutcome::Done(LikeAnswer { state, changed, committed: LikeCount::default() }));
    }
    let committed = write(tx, batch, &rows, now)?;
    for (call, outcome) in calls.iter().zip(&mut outcomes) {
        if let (LikeOutcome::Done(answer), Some(count)) = (outcome, committed.get(&call.article_id)) {
            answer.committed = *count;
        }
    }
    Ok(outcomes)
}

/// The counters and pairs that the calls are about, in the order of the articles' ids.
fn load(tx: &Connection, calls: &[Change]) -> Result<BTreeMap<ArticleId, Option<Batched>>, StoreError> {
    let mut likers: BTreeMap<ArticleId, Vec<MemberId>> =
        calls.iter().map(|call| (call.article_id, Vec::new())).collect();
    let articles: Vec<_> = likers.keys().copied().collect();
    let counts = read::counts(tx, &articles)?;
    let pairs: Vec<_> = calls.iter().map(|call| (call.article_id.raw(), call.member_id.raw())).collect();
    tx.each(EXISTING, [json(&pairs)?], |row| {
        let (article, member) = (ArticleId::from_raw(row.get(0)?), MemberId::from_raw(row.get(1)?));
        likers.entry(article).or_default().push(member);
        Ok(true)
    })?;
    let start = |(count, likers): (Option<LikeCount>, Vec<MemberId>)| {
        count.map(|count| Batched { replay: Replay::new(count, likers), event_id: None })
    };
    Ok(articles.into_iter().zip(counts.into_iter().zip(likers.into_values()).map(start)).collect())
}

/// Writes rows, counters and events; returns every counter as it stands then.
fn write(
    tx: &Tx,
    batch: BTreeMap<ArticleId, Option<Batched>>,
    rows: &HashMap<(ArticleId, MemberId), &NewRow>,
    now: Timestamp,
) -> Result<HashMap<ArticleId, LikeCount>, StoreError> {
    let mut writes = Writes::default();
    let mut committed = HashMap::with_capacity(batch.len());
    for (article, batched) in batch {
        let Some(Batched { replay, event_id }) = batched else { continue };
        let replayed = replay.finish();
        committed.insert(article, replayed.count);
        if let Some(event_id) = event_id
            && replayed.is_change()
        {
            writes.add(article, &replayed, rows);
            tx.report(events::changed(article, replayed, event_id, now))?;
        }
    }
    execute(tx, DELETE_MANY, &writes.deletes)?;
    execute(tx, INSERT_MANY, &writes.inserts)?;
    execute(tx, SET_COUNTS, &writes.counts)?;
    Ok(committed)
}

impl<'a> Writes<'a> {
    fn add(&mut self, article: ArticleId, change: &Replayed, rows: &HashMap<(ArticleId, MemberId), &'a NewRow>) {
        let inserts = change.liked.iter().filter_map(|member| {
            let row: &'a NewRow = rows.get(&(article, *member))?;
            Some((article.raw(), member.raw(), row.member_name.as_str(), row.created_at.as_millis()))
        });
        self.inserts.extend(inserts);
        self.deletes.extend(change.unliked.iter().map(|member| (article.raw(), member.raw())));
        self.counts.push((article.raw(), change.count.like_count, change.count.version));
    }
}

/// Runs a statement that takes a JSON list of rows, and sees that it reached all of them.
fn execute<T: Serialize>(tx: &Connection, sql: &str, rows: &[T]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let reached = tx.run(sql, [json(rows)?])?;
    if reached == rows.len() {
        return Ok(());
    }
    Err(StoreError::broken(PART, format!("{reached} rows were written instead of {}", rows.len())))
}

fn json<T: Serialize + ?Sized>(rows: &T) -> Result<String, StoreError> {
    serde_json::to_string(rows).map_err(|error| StoreError::broken(PART, error))
}
