//! The outbox on a real table: for relays, where the log lives elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::{Claim, Failed, Message, Outage, Outbox, OutboxBacklog, OutboxRow, header};
use rusqlite::{Connection, OptionalExtension, params};

use crate::errors::{outage, sql_error};
use crate::{Lane, Sqlite, dead_letters, rows};

const INSERT: &str = include_str!("../sql/outbox/insert.sql");
const DUE: &str = include_str!("../sql/outbox/due.sql");
const COUNT_ATTEMPT: &str = include_str!("../sql/outbox/count_attempt.sql");
const RELEASE: &str = include_str!("../sql/outbox/release.sql");
const DELETE: &str = include_str!("../sql/outbox/delete.sql");
const FIND: &str = include_str!("../sql/outbox/find.sql");
const PARK: &str = include_str!("../sql/outbox/park.sql");
const FREE_KEY: &str = include_str!("../sql/outbox/free_key.sql");
const FREE_DUE_KEYS: &str = include_str!("../sql/outbox/free_due_keys.sql");
const BACKLOG: &str = include_str!("../sql/outbox/backlog.sql");
const PARKED: &str = include_str!("../sql/outbox/parked.sql");

/// One claim brings no more rows than this, whatever is asked.
const CLAIM_MAX: usize = 10_000;

/// The outbox in SQLite.
#[derive(Clone)]
pub struct SqliteOutbox {
    db: Sqlite,
    claims: Arc<AtomicUsize>,
}

impl SqliteOutbox {
    /// The outbox of a database.
    pub fn new(db: Sqlite) -> Self {
        Self { db, claims: Arc::default() }
    }

    async fn change(&self, sql: &'static str, rows: &[EventId]) -> Result<(), Outage> {
        let ids = id_array(rows);
        let change = self.db.write(Lane::Background, move |tx| {
            tx.prepare_cached(sql).and_then(|mut change| change.execute([ids])).map_err(sql_error)
        });
        change.await.map(|_| ()).map_err(outage)
    }
}

/// Inserts a message in the transaction of its change. `now` is the store's clock, by which the row's age is told.
pub fn insert_outbox(tx: &Connection, message: &Message, now: Timestamp) -> rusqlite::Result<()> {
    let inserted = tx.prepare_cached(INSERT)?.execute(params![
        message.event_id.raw(),
        message.topic,
        message.key,
        message.shard.number(),
        message.occurred_at.as_millis(),
        rows::headers_json(message),
        &message.payload[..],
        now.as_millis(),
    ]);
    inserted.map(|_| ())
}

#[async_trait]
impl Outbox for SqliteOutbox {
    async fn claim(&self, claim: Claim) -> Result<Vec<OutboxRow>, Outage> {
        let clock = self.db.clock().clone();
        // Each claim begins with another shard, so that one with a long backlog does not keep the others waiting.
        let turn = self.claims.fetch_add(1, Ordering::Relaxed);
        let claimed = self.db.write(Lane::Background, move |tx| claim_rows(tx, claim, turn, clock.now()));
        claimed.await.map_err(outage)
    }

    async fn release(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.change(RELEASE, rows).await
    }

    async fn delete(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.change(DELETE, rows).await
    }

    async fn park(&self, rows: &[Failed]) -> Result<(), Outage> {
        let (rows, clock) = (rows.to_vec(), self.db.clock().clone());
        let park = self.db.write(Lane::Background, move |tx| {
            let now = clock.now();
            let mut park = tx.prepare_cached(PARK).map_err(sql_error)?;
            for row in &rows {
                let until_ms = now.plus(row.park_for).as_millis();
                park.execute(params![row.event_id.raw(), until_ms, row.reason]).map_err(sql_error)?;
            }
            Ok(())
        });
        park.await.map_err(outage)
    }

    async fn bury(&self, row: EventId, reason: &str) -> Result<(), Outage> {
        let (reason, clock) = (reason.to_owned(), self.db.clock().clone());
        let bury = self.db.write(Lane::Background, move |tx| bury(tx, row, &reason, clock.now()).map_err(sql_error));
        bury.await.map_err(outage)
    }

    async fn backlog(&self) -> Result<OutboxBacklog, Outage> {
        let now = self.db.clock().now();
        let read = self.db.read(move |snapshot| backlog(snapshot, now).map_err(sql_error));
        read.await.map_err(outage)
    }
}

fn claim_rows(
    tx: &Connection,
    claim: Claim,
    turn: usize,
    now: Timestamp,
) -> Result<Vec<OutboxRow>, madang_kernel::StoreError> {
    let Claim { mut shards, min_age, limit } = claim;
    let limit = limit.min(CLAIM_MAX);
    if !shards.is_empty() {
        let turn = turn % shards.len();
        shards.rotate_left(turn);
    }
    tx.prepare_cached(FREE_DUE_KEYS).and_then(|mut free| free.execute([now.as_millis()])).map_err(sql_error)?;
    let mut claimed = Vec::new();
    for shard in shards {
        claim_shard(tx, shard, min_age, limit - claimed.len(), now, &mut claimed).map_err(sql_error)?;
        if claimed.len() == limit {
            break;
        }
    }
    Ok(claimed)
}

fn claim_shard(
    tx: &Connection,
    shard: ShardId,
    min_age: Duration,
    limit: usize,
    now: Timestamp,
    claimed: &mut Vec<OutboxRow>,
) -> rusqlite::Result<()> {
    let age_ms = i64::try_from(min_age.as_millis()).unwrap_or(i64::MAX);
    let inserted_by = now.as_millis().saturating_sub(age_ms);
    let first = claimed.len();
    let mut row_ids = Vec::new();
    let mut due = tx.prepare_cached(DUE)?;
    let mut rows = due.query(params![shard.number(), inserted_by, now.as_millis(), limit as i64])?;
    while let Some(row) = rows.next()? {
        row_ids.push(row.get::<_, i64>(0)?);
        claimed.push(OutboxRow { message: rows::message(row, 1)?, attempts: row.get(8)? });
    }
    debug_assert_eq!(claimed.len() - first, row_ids.len());
    let mut count = tx.prepare_cached(COUNT_ATTEMPT)?;
    for row_id in row_ids {
        count.execute([row_id])?;
    }
    Ok(())
}

fn bury(tx: &Connection, row: EventId, reason: &str, now: Timestamp) -> rusqlite::Result<()> {
    let found = tx.prepare_cached(FIND)?.query_row([row.raw()], |row| rows::message(row, 1)).optional()?;
    // Buried before, by a relay that lost its shard: nothing is left to do.
    let Some(mut message) = found else { return Ok(()) };
    let original = std::mem::take(&mut message.topic);
    message.topic = format!("{original}.dlq");
    message.set_header(header::ORIGINAL_TOPIC, original);
    message.set_header(header::REASON, reason);
    dead_letters::insert(tx, &message, now)?;
    tx.prepare_cached(DELETE)?.execute([id_array(&[row])])?;
    tx.prepare_cached(FREE_KEY)?.execute([&message.key])?;
    Ok(())
}

fn backlog(snapshot: &Connection, now: Timestamp) -> rusqlite::Result<OutboxBacklog> {
    let (unsent, oldest): (i64, Option<i64>) =
        snapshot.prepare_cached(BACKLOG)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let parked: i64 = snapshot.prepare_cached(PARKED)?.query_row([now.as_millis()], |row| row.get(0))?;
    Ok(OutboxBacklog {
        unsent: unsent.unsigned_abs(),
        parked: parked.unsigned_abs(),
        oldest_age: oldest.map_or(Duration::ZERO, |oldest| now.since(Timestamp::from_millis(oldest))),
    })
}

fn id_array(rows: &[EventId]) -> String {
    let ids: Vec<i64> = rows.iter().map(|row| row.raw()).collect();
    // Numbers into memory: there is nothing that could fail.
    serde_json::to_string(&ids).unwrap_or_default()
}
