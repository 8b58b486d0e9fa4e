//! Idempotency records: answers to requests with an idempotency key, stored in the transaction of what they answer.

use std::collections::HashMap;
use std::sync::LazyLock;

use madang_kernel::{IDEMPOTENCY_KEPT_MS, Idempotency, ShardId, StoreError, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::SqlError;
use crate::statement::{Many, Values};
use crate::transaction::{Tx, bytes};
use crate::{Databases, transact};

static FIND: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/find.sql")));
static FORGET: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/forget.sql")));
static REMEMBER: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/remember.sql")));

const COUNT: &str = include_str!("../sql/idempotency/size.sql");
const PURGE: &str = include_str!("../sql/idempotency/purge.sql");

/// Records removed in one transaction.
const PURGE_SLICE_ROWS: u64 = 500;
/// The table of the records.
const TABLE: &str = "once_answer";

/// What was answered under a key.
pub enum Earlier<T> {
    /// Nothing, or it was too long ago.
    None,
    /// The same request was answered with this.
    Answered(T),
    /// The key came with another body.
    OtherBody,
}

/// The idempotency records of a batch: what was answered before, and what is answered now. They are in the table
/// `once_answer`, which the program's own migrations make by [`Self::TABLE`].
pub struct IdempotencyRecords {
    records: HashMap<Key, Record>,
    now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    caller: i64,
    scope: Vec<u8>,
    once_key: Vec<u8>,
}

struct Record {
    shard: ShardId,
    fingerprint: Vec<u8>,
    answer: Vec<u8>,
    answered_at: i64,
    /// Given by this batch, in place of an expired one or of none.
    written: Option<Written>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    New,
    OverExpired,
}

impl Key {
    fn of(idempotency: &Idempotency) -> Self {
        let (scope, once_key) = (idempotency.scope.as_bytes().to_vec(), idempotency.key.as_bytes().to_vec());
        Self { caller: idempotency.caller, scope, once_key }
    }

    fn values(&self, shard: ShardId) -> Values {
        let Self { caller, scope, once_key } = self;
        vec![shard.number().into(), (*caller).into(), bytes(scope.as_slice()), bytes(once_key.as_slice())]
    }
}

impl IdempotencyRecords {
    /// The table that records need.
    pub const TABLE: &str = include_str!("../tables/once_answer.sql");

    /// Reads what was answered to some keys, each with the shard on which its answer is kept.
    pub async fn load<'k>(
        tx: &mut Tx<'_>,
        keys: impl Iterator<Item = (ShardId, &'k Idempotency)>,
        now: Timestamp,
    ) -> Result<Self, SqlError> {
        let shards: HashMap<Key, ShardId> = keys.map(|(shard, idempotency)| (Key::of(idempotency), shard)).collect();
        let keys = shards.iter().map(|(key, shard)| key.values(*shard)).collect();
        let mut records = HashMap::new();
        for mut cells in tx.read_many(&FIND, keys).await? {
            let key = Key { caller: cells.next()?, scope: cells.next()?, once_key: cells.next()? };
            let (fingerprint, answer, answered_at) = (cells.next()?, cells.next()?, cells.next()?);
            if let Some(shard) = shards.get(&key).copied() {
                records.insert(key, Record { shard, fingerprint, answer, answered_at, written: None });
            }
        }
        Ok(Self { records, now })
    }

    /// What a key was answered with, by this batch or before.
    pub fn earlier<T: DeserializeOwned>(&self, idempotency: Option<&Idempotency>) -> Result<Earlier<T>, StoreError> {
        let Some(idempotency) = idempotency else { return Ok(Earlier::None) };
        match self.records.get(&Key::of(idempotency)) {
            Some(record) if self.is_expired(record) => Ok(Earlier::None),
            Some(record) if record.fingerprint != idempotency.fingerprint => Ok(Earlier::OtherBody),
            Some(record) => serde_json::from_slice(&record.answer)
                .map(Earlier::Answered)
                .map_err(|error| StoreError::broken(TABLE, error)),
            None => Ok(Earlier::None),
        }
    }

    /// The answers given before, where they can be read.
    pub fn answers<T: DeserializeOwned>(&self) -> impl Iterator<Item = T> {
        self.records.values().filter_map(|record| serde_json::from_slice(&record.answer).ok())
    }

    /// Records an answer under its key.
    pub fn remember<T: Serialize>(
        &mut self,
        shard: ShardId,
        idempotency: Option<&Idempotency>,
        answer: &T,
    ) -> Result<(), StoreError> {
        let Some(idempotency) = idempotency else { return Ok(()) };
        let answer = serde_json::to_vec(answer).map_err(|error| StoreError::broken(TABLE, error))?;
        let key = Key::of(idempotency);
        let written = if self.records.contains_key(&key) { Written::OverExpired } else { Written::New };
        let (fingerprint, answered_at) = (idempotency.fingerprint.to_vec(), self.now.as_millis());
        let written = Some(written);
        self.records.insert(key, Record { shard, fingerprint, answer, answered_at, written });
        Ok(())
    }

    /// Writes the answers of this batch.
    pub async fn write(self, tx: &mut Tx<'_>) -> Result<(), SqlError> {
        let mut written: Vec<_> = self.records.into_iter().filter(|(_, record)| record.written.is_some()).collect();
        written.sort_by(|(one, _), (other, _)| one.cmp(other));
        let expired = written.iter().filter(|(_, record)| record.written == Some(Written::OverExpired));
        tx.set_many(&FORGET, expired.map(|(key, record)| key.values(record.shard)).collect()).await?;
        let rows = written.into_iter().map(|(key, record)| {
            let mut row = key.values(record.shard);
            row.extend([bytes(record.fingerprint), bytes(record.answer), record.answered_at.into()]);
            row
        });
        tx.insert_many(&REMEMBER, rows.collect()).await
    }

    /// Forgets the answers given before `before`, slice by slice; returns how many.
    pub async fn purge(db: &Databases, before: Timestamp) -> Result<u64, StoreError> {
        let values = || vec![before.as_millis().into(), PURGE_SLICE_ROWS.into()];
        let mut purged = 0;
        for server in db.servers() {
            loop {
                let slice: Result<u64, SqlError> = transact!(server, |tx| tx.write(PURGE, values()));
                let slice = slice?;
                purged += slice;
                if slice < PURGE_SLICE_ROWS {
                    break;
                }
            }
        }
        Ok(purged)
    }

    /// How many there are. Counts them, so ask every few minutes, not every second.
    pub async fn count(db: &Databases) -> Result<u64, StoreError> {
        db.count(COUNT).await
    }

    fn is_expired(&self, record: &Record) -> bool {
        self.now.as_millis() - record.answered_at >= IDEMPOTENCY_KEPT_MS
    }
}
