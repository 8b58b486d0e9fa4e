//! Idempotency records: what a request with an `Idempotency-Key` was answered. Loaded before a call is decided, and stored in
//! the transaction of its effect, so that a repetition is answered with the same and changes nothing.

use madang_kernel::{
    Idempotency, IdempotencyKey, IdempotencyRecord, IdempotencyRecords, NewIdempotencyRecord, StoreError, Timestamp,
};
use rusqlite::{Connection, Row, params};

use crate::Statements as _;
use crate::rows;

const FIND: &str = include_str!("../sql/idempotency/find.sql");
const STORE: &str = include_str!("../sql/idempotency/store.sql");
const PURGE: &str = include_str!("../sql/idempotency/purge.sql");

/// Reads the record of a call's key, if it has one.
pub fn load(
    tx: &Connection,
    idempotency: Option<&Idempotency>,
    now: Timestamp,
) -> Result<IdempotencyRecords, StoreError> {
    let mut records = IdempotencyRecords::new(now);
    let Some(Idempotency { caller, scope, key, .. }) = idempotency else { return Ok(records) };
    let read = |row: &Row<'_>| {
        let answered_at = Timestamp::from_millis(row.get(2)?);
        Ok(IdempotencyRecord { fingerprint: row.get(0)?, answer: row.get(1)?, answered_at })
    };
    if let Some(record) = tx.find(FIND, params![caller, scope, key], read)? {
        records.load(IdempotencyKey { caller: *caller, scope: scope.clone(), key: key.clone() }, record);
    }
    Ok(records)
}

/// Stores records; those that had expired under the same keys give way.
pub fn store(tx: &Connection, records: &[NewIdempotencyRecord]) -> Result<(), StoreError> {
    for NewIdempotencyRecord { key: IdempotencyKey { caller, scope, key }, record, .. } in records {
        let row = params![caller, scope, key, record.fingerprint, record.answer, record.answered_at.as_millis()];
        tx.run(STORE, row)?;
    }
    Ok(())
}

/// Removes up to `limit` records made before `before`; returns how many.
pub fn purge(tx: &Connection, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
    tx.run(PURGE, [before.as_millis(), rows::limit(limit)])
}
