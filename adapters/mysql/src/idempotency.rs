//! Answers to requests with an idempotency key, kept in the transaction of what they answer.

use std::collections::HashMap;
use std::sync::LazyLock;

use madang_kernel::{IDEMPOTENCY_KEPT_MS, Idempotency, ShardId, StoreError, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Mysql;
use crate::db::transact;
use crate::errors::SqlError;
use crate::statement::{Many, Values};
use crate::transaction::{Tx, bytes};

static FIND: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/find.sql")));
static FORGET: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/forget.sql")));
static REMEMBER: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/remember.sql")));

const PURGE: &str = include_str!("../sql/idempotency/purge.sql");

/// Answers removed in one transaction.
const PURGE_SLICE_ROWS: u64 = 500;
/// The table in which an answer is kept.
const TABLE: &str = "once_answer";

/// What is known of a key.
pub(crate) enum Earlier<T> {
    /// Nothing, or it was too long ago.
    None,
    /// The same request was answered with this.
    Answered(T),
    /// The key came with another body.
    OtherBody,
}

/// The keys of a batch: what was answered before, and what is answered now.
pub(crate) struct Keys {
    known: HashMap<Key, Known>,
    now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    member_id: i64,
    scope: Vec<u8>,
    once_key: Vec<u8>,
}

struct Known {
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
        Self { member_id: idempotency.caller, scope, once_key }
    }

    fn values(&self, shard: ShardId) -> Values {
        let Self { member_id, scope, once_key } = self;
        vec![shard.number().into(), (*member_id).into(), bytes(scope.as_slice()), bytes(once_key.as_slice())]
    }
}

impl Keys {
    /// Reads what was answered to some keys, each with the shard on which its answer is kept.
    pub(crate) async fn load<'k>(
        tx: &mut Tx<'_>,
        keys: impl Iterator<Item = (ShardId, &'k Idempotency)>,
        now: Timestamp,
    ) -> Result<Self, SqlError> {
        let shards: HashMap<Key, ShardId> = keys.map(|(shard, idempotency)| (Key::of(idempotency), shard)).collect();
        let keys = shards.iter().map(|(key, shard)| key.values(*shard)).collect();
        let mut known = HashMap::new();
        for mut cells in tx.read_many(&FIND, keys).await? {
            let key = Key { member_id: cells.next()?, scope: cells.next()?, once_key: cells.next()? };
            let (fingerprint, answer, answered_at) = (cells.next()?, cells.next()?, cells.next()?);
            if let Some(shard) = shards.get(&key).copied() {
                known.insert(key, Known { shard, fingerprint, answer, answered_at, written: None });
            }
        }
        Ok(Self { known, now })
    }

    /// What a key was answered with, by this batch or before.
    pub(crate) fn earlier<T: DeserializeOwned>(
        &self,
        idempotency: Option<&Idempotency>,
    ) -> Result<Earlier<T>, StoreError> {
        let Some(idempotency) = idempotency else { return Ok(Earlier::None) };
        match self.known.get(&Key::of(idempotency)) {
            Some(known) if self.is_expired(known) => Ok(Earlier::None),
            Some(known) if known.fingerprint != idempotency.fingerprint => Ok(Earlier::OtherBody),
            Some(known) => serde_json::from_slice(&known.answer)
                .map(Earlier::Answered)
                .map_err(|error| StoreError::broken(TABLE, error)),
            None => Ok(Earlier::None),
        }
    }

    /// The answers that are known, where they can be read.
    pub(crate) fn answers<T: DeserializeOwned>(&self) -> impl Iterator<Item = T> {
        self.known.values().filter_map(|known| serde_json::from_slice(&known.answer).ok())
    }

    /// Keeps an answer under its key.
    pub(crate) fn remember<T: Serialize>(
        &mut self,
        shard: ShardId,
        idempotency: Option<&Idempotency>,
        answer: &T,
    ) -> Result<(), StoreError> {
        let Some(idempotency) = idempotency else { return Ok(()) };
        let answer = serde_json::to_vec(answer).map_err(|error| StoreError::broken(TABLE, error))?;
        let key = Key::of(idempotency);
        let written = if self.known.contains_key(&key) { Written::OverExpired } else { Written::New };
        let (fingerprint, answered_at) = (idempotency.fingerprint.to_vec(), self.now.as_millis());
        let written = Some(written);
        self.known.insert(key, Known { shard, fingerprint, answer, answered_at, written });
        Ok(())
    }

    /// Writes the answers of this batch.
    pub(crate) async fn write(self, tx: &mut Tx<'_>) -> Result<(), SqlError> {
        let mut written: Vec<_> = self.known.into_iter().filter(|(_, known)| known.written.is_some()).collect();
        written.sort_by(|(one, _), (other, _)| one.cmp(other));
        let expired = written.iter().filter(|(_, known)| known.written == Some(Written::OverExpired));
        tx.set_many(&FORGET, expired.map(|(key, known)| key.values(known.shard)).collect()).await?;
        let rows = written.into_iter().map(|(key, known)| {
            let mut row = key.values(known.shard);
            row.extend([bytes(known.fingerprint), bytes(known.answer), known.answered_at.into()]);
            row
        });
        tx.insert_many(&REMEMBER, rows.collect()).await
    }

    fn is_expired(&self, known: &Known) -> bool {
        self.now.as_millis() - known.answered_at >= IDEMPOTENCY_KEPT_MS
    }
}

/// Forgets the answers given before `before`, slice by slice; returns how many.
pub(crate) async fn purge(db: &Mysql, before: Timestamp) -> Result<u64, StoreError> {
    let values = || vec![before.as_millis().into(), PURGE_SLICE_ROWS.into()];
    let mut purged = 0;
    for server in db.servers() {
        loop {
            let slice: Result<u64, SqlError> = transact!(db, server, |tx| tx.write(PURGE, values()));
            let slice = slice?;
            purged += slice;
            if slice < PURGE_SLICE_ROWS {
                break;
            }
        }
    }
    Ok(purged)
}
