//! Idempotency records: what a request with an `Idempotency-Key` was answered, stored in the transaction of its effect, so
//! that a repetition is answered with the same and changes nothing.

use madang_kernel::{IDEMPOTENCY_KEPT_MS, Idempotency, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::sql_error;
use crate::rows;

const FIND: &str = include_str!("../sql/idempotency/find.sql");
const STORE: &str = include_str!("../sql/idempotency/store.sql");
const PURGE: &str = include_str!("../sql/idempotency/purge.sql");

/// What is recorded under a key.
pub enum Recorded<T> {
    /// Nothing, or it has expired.
    Nothing,
    /// The same request was answered with this.
    Answer(T),
    /// The key came with another body.
    OtherBody,
}

/// Looks a key up; an expired record counts as none.
pub fn find<T: DeserializeOwned>(
    tx: &Connection,
    idempotency: &Idempotency,
    now: Timestamp,
) -> Result<Recorded<T>, StoreError> {
    let mut find = tx.prepare_cached(FIND).map_err(sql_error)?;
    let found = find
        .query_row(params![idempotency.caller, idempotency.scope, idempotency.key], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, i64>(2)?))
        })
        .optional()
        .map_err(sql_error)?;
    match found {
        Some((_, _, answered_at)) if now.as_millis() - answered_at >= IDEMPOTENCY_KEPT_MS => Ok(Recorded::Nothing),
        Some((fingerprint, _, _)) if fingerprint != idempotency.fingerprint => Ok(Recorded::OtherBody),
        Some((_, answer, _)) => serde_json::from_slice(&answer).map(Recorded::Answer).map_err(unreadable),
        None => Ok(Recorded::Nothing),
    }
}

/// Stores the answer under the key.
pub fn store<T: Serialize>(
    tx: &Connection,
    idempotency: &Idempotency,
    answer: &T,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Idempotency { caller, scope, key, fingerprint, .. } = idempotency;
    let answer = serde_json::to_vec(answer).map_err(unreadable)?;
    let mut store = tx.prepare_cached(STORE).map_err(sql_error)?;
    store.execute(params![caller, scope, key, fingerprint, answer, now.as_millis()]).map_err(sql_error)?;
    Ok(())
}

/// Removes up to `limit` records made before `before`; returns how many.
pub fn purge(tx: &Connection, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
    let mut purge = tx.prepare_cached(PURGE).map_err(sql_error)?;
    purge.execute([before.as_millis(), rows::limit(limit)]).map_err(sql_error)
}

fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::broken("once_answer", error)
}
