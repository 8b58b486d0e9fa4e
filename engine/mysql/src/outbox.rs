//! The outbox of a database: one table on each server, read as one.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::{Claim, Failed, Message, Outage, Outbox, OutboxBacklog, OutboxRow, UnsentMessages, header};
use mysql_async::Value;

use crate::errors::{SqlError, outage};
use crate::server::Server;
use crate::statement::{Many, Values};
use crate::transaction::{Tx, bytes};
use crate::{Databases, dead_letters, rows, snapshot, transact};

static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/outbox/insert.sql")));
static DUE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/outbox/due.sql")));
static COUNT_ATTEMPTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/outbox/count_attempts.sql")));
static RELEASE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/outbox/release.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/outbox/delete.sql")));
const FIND: &str = include_str!("../sql/outbox/find.sql");
const PARK: &str = include_str!("../sql/outbox/park.sql");
const FREE_KEY: &str = include_str!("../sql/outbox/free_key.sql");
const FREE_DUE_KEYS: &str = include_str!("../sql/outbox/free_due_keys.sql");
const BACKLOG: &str = include_str!("../sql/outbox/backlog.sql");
const UNSENT_BEFORE: &str = include_str!("../sql/outbox/unsent_before.sql");
const PARKED: &str = include_str!("../sql/outbox/parked.sql");

/// One claim brings no more rows than this, whatever is asked.
const CLAIM_MAX: usize = 10_000;

/// How long a transaction may be open that has inserted already, in milliseconds: far longer than the server lets one wait.
const OPEN_MAX_MS: i64 = 60_000;

/// The outbox of one database.
#[derive(Clone)]
pub struct MysqlOutbox {
    db: Databases,
    claims: Arc<AtomicUsize>,
}

/// Inserts messages in the transaction of their change; `now` tells their age.
pub(crate) async fn insert(tx: &mut Tx<'_>, messages: &[Message], now: Value) -> Result<(), SqlError> {
    let with_age = |message| {
        let mut values = rows::message_values(message);
        values.push(now.clone());
        values
    };
    tx.insert_many(&INSERT, messages.iter().map(with_age).collect()).await
}

impl MysqlOutbox {
    /// The outbox in `db`.
    pub fn new(db: &Databases) -> Self {
        Self { db: db.clone(), claims: Arc::default() }
    }

    /// Inserts messages by themselves, all of a server in one transaction: for tests, and for a program that moves. Stores
    /// insert theirs with the change.
    pub async fn insert(&self, messages: &[Message]) -> Result<(), Outage> {
        for (index, server) in self.db.servers().iter().enumerate() {
            let of_server: Vec<Message> = messages.iter().filter(|m| self.holds(index, m.shard)).cloned().collect();
            if of_server.is_empty() {
                continue;
            }
            let shards: Vec<ShardId> = of_server.iter().map(|message| message.shard).collect();
            let inserted: Result<(), SqlError> = transact!(server, |tx| async {
                insert(&mut tx, &of_server, self.db.age_now()).await?;
                tx.holds(&shards).await
            });
            inserted.map_err(outage)?;
        }
        Ok(())
    }

    fn holds(&self, server: usize, shard: ShardId) -> bool {
        usize::from(self.db.map().server(shard).0) == server
    }

    /// Runs a statement over events: first where their ids say that they are, then elsewhere if some were not there. A
    /// server that is unavailable keeps no other's rows waiting.
    async fn change(&self, many: &Many, events: &[EventId]) -> Result<(), Outage> {
        let (mut missed, mut unavailable) = (0, None);
        for elsewhere in [false, true] {
            for (index, server) in self.db.servers().iter().enumerate() {
                let here = events.iter().filter(|event| self.holds(index, event.shard()) != elsewhere);
                let here: Vec<EventId> = here.copied().collect();
                match self.change_on(server, many, &here).await {
                    Ok(not_there) => missed += not_there,
                    Err(outage) => unavailable = Some(outage),
                }
            }
            if missed == 0 {
                break;
            }
        }
        unavailable.map_or(Ok(()), Err)
    }

    /// The servers, the one that an event's id tells first.
    fn servers_for(&self, event: EventId) -> Vec<Arc<Server>> {
        let mut servers = self.db.servers();
        servers[..=usize::from(self.db.map().server(event.shard()).0)].rotate_right(1);
        servers
    }

    /// Returns how many of the events had no row here.
    async fn change_on(&self, server: &Server, many: &Many, events: &[EventId]) -> Result<usize, Outage> {
        if events.is_empty() {
            return Ok(0);
        }
        let keys = || ids(events);
        let reached: Result<u64, SqlError> = transact!(server, |tx| tx.reach_many(many, keys()));
        Ok(events.len().saturating_sub(usize::try_from(reached.map_err(outage)?).unwrap_or(usize::MAX)))
    }

    async fn claim_on(
        &self,
        server: &Server,
        shards: &[ShardId],
        claim: &Claim,
        limit: usize,
    ) -> Result<Vec<OutboxRow>, SqlError> {
        transact!(server, |tx| self.claim_rows(&mut tx, shards, claim.min_age, limit))
    }

    async fn claim_rows(
        &self,
        tx: &mut Tx<'_>,
        shards: &[ShardId],
        min_age: Duration,
        limit: usize,
    ) -> Result<Vec<OutboxRow>, SqlError> {
        let now = self.db.store_now(tx).await?;
        tx.write_among(FREE_DUE_KEYS, shards, vec![now.into()]).await?;
        let inserted_by = now.saturating_sub(i64::try_from(min_age.as_millis()).unwrap_or(i64::MAX));
        let mut claimed = Vec::new();
        // From the shard whose turn it is to the last, then from the first: two ranges that the index can walk in order.
        for shards in wrapped(shards) {
            let keys: Vec<Values> = shards.iter().map(|shard| vec![shard.number().into()]).collect();
            let (head, tail) = (vec![now.into(), inserted_by.into()], vec![(limit - claimed.len()).into()]);
            for mut cells in tx.read_many_between(&DUE, head, keys, tail).await? {
                claimed.push(OutboxRow { message: rows::message(&mut cells)?, attempts: cells.next()? });
            }
            if claimed.len() >= limit {
                break;
            }
        }
        let events: Vec<EventId> = claimed.iter().map(|row| row.message.event_id).collect();
        tx.set_many(&COUNT_ATTEMPTS, ids(&events)).await?;
        Ok(claimed)
    }
}

/// Splits shards where their numbers start again.
fn wrapped(shards: &[ShardId]) -> impl Iterator<Item = &[ShardId]> {
    shards.chunk_by(|one, next| one < next)
}

fn ids(events: &[EventId]) -> Vec<Values> {
    let mut ids: Vec<i64> = events.iter().map(|event| event.raw()).collect();
    // Locks are taken in the order of the list.
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|id| vec![id.into()]).collect()
}

#[async_trait]
impl UnsentMessages for MysqlOutbox {
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage> {
        for (server, shards) in self.db.holders() {
            let found: Result<bool, SqlError> =
                snapshot!(server, |tx| has_unsent_on(&self.db, &mut tx, &shards, moment));
            if found.map_err(outage)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[async_trait]
impl Outbox for MysqlOutbox {
    async fn claim(&self, mut claim: Claim) -> Result<Vec<OutboxRow>, Outage> {
        let limit = claim.limit.min(CLAIM_MAX);
        claim.shards.sort_unstable();
        claim.shards.dedup();
        if claim.shards.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        // Each claim begins with another shard, so that one with a long backlog does not keep the others waiting.
        let turn = self.claims.fetch_add(1, Ordering::Relaxed) % claim.shards.len();
        claim.shards.rotate_left(turn);
        let mut claimed = Vec::new();
        let mut unavailable = None;
        // The server whose shard comes first is asked first.
        let mut servers: Vec<_> = claim.shards.iter().map(|shard| self.db.map().server(*shard)).collect();
        let mut seen = HashSet::new();
        servers.retain(|server| seen.insert(*server));
        for server in servers {
            let here: Vec<_> = claim.shards.iter().filter(|s| self.db.map().server(**s) == server).copied().collect();
            match self.claim_on(&self.db.server(server), &here, &claim, limit - claimed.len()).await {
                Ok(rows) => claimed.extend(rows),
                // One server that is unavailable keeps no other's rows waiting.
                Err(error) => unavailable = Some(error),
            }
            if claimed.len() >= limit {
                break;
            }
        }
        match unavailable {
            Some(error) if claimed.is_empty() => Err(outage(error)),
            _ => Ok(claimed),
        }
    }

    async fn release(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.change(&RELEASE, rows).await
    }

    async fn delete(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.change(&DELETE, rows).await
    }

    async fn park(&self, rows: &[Failed]) -> Result<(), Outage> {
        for row in rows {
            for server in self.servers_for(row.event_id) {
                let parked: Result<bool, SqlError> = transact!(server, |tx| self.park_row(&mut tx, row));
                if parked.map_err(outage)? {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn bury(&self, row: EventId, reason: &str) -> Result<(), Outage> {
        for server in self.servers_for(row) {
            let buried: Result<bool, SqlError> = transact!(server, |tx| self.bury_row(&mut tx, row, reason));
            if buried.map_err(outage)? {
                break;
            }
        }
        Ok(())
    }

    async fn backlog(&self) -> Result<OutboxBacklog, Outage> {
        let mut sum = OutboxBacklog::default();
        for (server, shards) in self.db.holders() {
            let one: Result<OutboxBacklog, SqlError> = snapshot!(server, |tx| backlog_on(&self.db, &mut tx, &shards));
            let one = one.map_err(outage)?;
            sum.unsent += one.unsent;
            sum.parked += one.parked;
            sum.oldest_age = sum.oldest_age.max(one.oldest_age);
        }
        Ok(sum)
    }
}

impl MysqlOutbox {
    /// False when the row is not here.
    async fn park_row(&self, tx: &mut Tx<'_>, row: &Failed) -> Result<bool, SqlError> {
        let now = Timestamp::from_millis(self.db.store_now(tx).await?);
        let until_ms = now.plus(row.park_for).as_millis();
        let values = vec![until_ms.into(), bytes(row.reason.as_str()), row.event_id.raw().into()];
        Ok(tx.write(PARK, values).await? > 0)
    }

    /// False when the row is not here: on another server, or buried before by a relay that lost its shard.
    async fn bury_row(&self, tx: &mut Tx<'_>, row: EventId, reason: &str) -> Result<bool, SqlError> {
        let found = tx.first(FIND, vec![row.raw().into()]).await?;
        let Some(mut cells) = found else { return Ok(false) };
        let mut message = rows::message(&mut cells)?;
        let original = std::mem::take(&mut message.topic);
        message.topic = format!("{original}.dlq");
        message.set_header(header::ORIGINAL_TOPIC, original);
        message.set_header(header::REASON, reason);
        let died_at = self.db.store_now(tx).await?;
        dead_letters::insert(tx, &message, died_at).await?;
        tx.set_many(&DELETE, ids(&[row])).await?;
        tx.write(FREE_KEY, vec![message.shard.number().into(), bytes(message.key.as_str())]).await?;
        Ok(true)
    }
}

async fn has_unsent_on(
    db: &Databases,
    tx: &mut Tx<'_>,
    shards: &[ShardId],
    moment: Timestamp,
) -> Result<bool, SqlError> {
    let now = db.store_now(tx).await?;
    if now <= moment.as_millis().saturating_add(OPEN_MAX_MS) {
        return Ok(true);
    }
    Ok(!tx.read_among(UNSENT_BEFORE, shards, vec![moment.as_millis().into()]).await?.is_empty())
}

async fn backlog_on(db: &Databases, tx: &mut Tx<'_>, shards: &[ShardId]) -> Result<OutboxBacklog, SqlError> {
    let now = Timestamp::from_millis(db.store_now(tx).await?);
    let nothing = || SqlError::defect("a count without a row");
    let mut counted = tx.read_among(BACKLOG, shards, Vec::new()).await?.pop().ok_or_else(nothing)?;
    let (unsent, oldest): (u64, Option<i64>) = (counted.next()?, counted.next()?);
    let parked =
        tx.read_among(PARKED, shards, vec![now.as_millis().into()]).await?.pop().ok_or_else(nothing)?.next()?;
    let oldest_age = oldest.map_or(Duration::ZERO, |oldest| now.since(Timestamp::from_millis(oldest)));
    Ok(OutboxBacklog { unsent, parked, oldest_age })
}
