//! Idempotency records: answers to requests with an idempotency key. Loaded before a batch is decided, and stored in the
//! transaction of what they answer. They are in the table `once_answer`, which the program's own migrations make by
//! [`TABLE`].

use std::collections::BTreeSet;
use std::sync::LazyLock;

use madang_kernel::{
    Idempotency, IdempotencyKey, IdempotencyRecord, IdempotencyRecords, NewIdempotencyRecord, ShardId, StoreError,
    Timestamp,
};

use crate::errors::SqlError;
use crate::statement::{Many, Values};
use crate::transaction::{Tx, bytes};
use crate::{Databases, transact};

/// The table that records need.
pub const TABLE: &str = include_str!("../tables/once_answer.sql");

static FIND: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/find.sql")));
static FORGET: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/forget.sql")));
static REMEMBER: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/idempotency/remember.sql")));

const COUNT: &str = include_str!("../sql/idempotency/size.sql");
const PURGE: &str = include_str!("../sql/idempotency/purge.sql");

/// Records removed in one transaction.
const PURGE_SLICE_ROWS: u64 = 500;

/// Reads the records of some keys, each with the shard on which its record is stored.
pub async fn load<'k>(
    tx: &mut Tx<'_>,
    keys: impl Iterator<Item = (ShardId, &'k Idempotency)>,
    now: Timestamp,
) -> Result<IdempotencyRecords, SqlError> {
    let keys: BTreeSet<(u8, IdempotencyKey)> = keys.map(|(shard, key)| (shard.number(), key.into())).collect();
    let mut records = IdempotencyRecords::new(now);
    for mut cells in tx.read_many(&FIND, keys.iter().map(|(shard, key)| values(*shard, key)).collect()).await? {
        let key = IdempotencyKey { caller: cells.next()?, scope: cells.next()?, key: cells.next()? };
        let (fingerprint, answer) = (cells.next()?, cells.next()?);
        let answered_at = Timestamp::from_millis(cells.next()?);
        records.load(key, IdempotencyRecord { fingerprint, answer, answered_at });
    }
    Ok(records)
}

/// Stores the records of a batch; those that had expired under the same keys give way.
pub async fn store(tx: &mut Tx<'_>, records: Vec<NewIdempotencyRecord>) -> Result<(), SqlError> {
    let expired = records.iter().filter(|new| new.replaces_expired);
    tx.set_many(&FORGET, expired.map(|new| values(new.shard.number(), &new.key)).collect()).await?;
    let rows = records.into_iter().map(|NewIdempotencyRecord { shard, key, record, .. }| {
        let mut row = values(shard.number(), &key);
        row.extend([bytes(record.fingerprint), bytes(record.answer), record.answered_at.as_millis().into()]);
        row
    });
    tx.insert_many(&REMEMBER, rows.collect()).await
}

/// Removes the records made before `before`, slice by slice; returns how many.
pub async fn purge(db: &Databases, before: Timestamp) -> Result<u64, StoreError> {
    let values = || vec![before.as_millis().into(), PURGE_SLICE_ROWS.into()];
    let mut purged = 0;
    for (server, shards) in db.holders() {
        loop {
            let slice: Result<u64, SqlError> = transact!(server, |tx| tx.write_among(PURGE, &shards, values()));
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

fn values(shard: u8, IdempotencyKey { caller, scope, key }: &IdempotencyKey) -> Values {
    vec![shard.into(), (*caller).into(), bytes(scope.as_str()), bytes(key.as_str())]
}
