//! Idempotency records: what a request with an `Idempotency-Key` was answered. Loaded before a call is decided, and stored in
//! the transaction of its effect, so that a repetition is answered with the same and changes nothing.

use madang_kernel::{
    Idempotency, IdempotencyKey, IdempotencyRecord, IdempotencyRecords, NewIdempotencyRecord, StoreError, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::errors::sql_error;
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
    let mut find = tx.prepare_cached(FIND).map_err(sql_error)?;
    if let Some(record) = find.query_row(params![caller, scope, key], read).optional().map_err(sql_error)? {
        records.load(IdempotencyKey { caller: *caller, scope: scope.clone(), key: key.clone() }, record);
    }
    Ok(records)
}

/// Stores records; those that had expired under the same keys give way.
pub fn store(tx: &Connection, records: &[NewIdempotencyRecord]) -> Result<(), StoreError> {
    for NewIdempotencyRecord { key: IdempotencyKey { caller, scope, key }, record, .. } in records {
        let row = params![caller, scope, key, record.fingerprint, record.answer, record.answered_at.as_millis()];
        tx.prepare_cached(STORE).and_then(|mut store| store.execute(row)).map_err(sql_error)?;
    }
    Ok(())
}

/// Removes up to `limit` records made before `before`; returns how many.
pub fn purge(tx: &Connection, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
    let mut purge = tx.prepare_cached(PURGE).map_err(sql_error)?;
    purge.execute([before.as_millis(), rows::limit(limit)]).map_err(sql_error)
}
