//! Answers to requests with an idempotency key, kept in the transaction of what they answer.

use madang_kernel::{IDEMPOTENCY_KEPT_MS, Idempotency, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::sql_error;

const FIND: &str = include_str!("../sql/article/find_idempotency.sql");
const REMEMBER: &str = include_str!("../sql/article/remember_idempotency.sql");
const PURGE: &str = include_str!("../sql/article/purge_idempotency.sql");

/// What is known of a key.
pub(crate) enum Earlier<T> {
    /// Nothing, or it was too long ago.
    None,
    /// The same request was answered with this.
    Answered(T),
    /// The key came with another body.
    OtherBody,
}

/// Looks a key up; an answer older than it is kept counts as none.
pub(crate) fn earlier<T: DeserializeOwned>(
    tx: &Connection,
    idempotency: &Idempotency,
    now: Timestamp,
) -> Result<Earlier<T>, StoreError> {
    let mut find = tx.prepare_cached(FIND).map_err(sql_error)?;
    let found = find
        .query_row(params![idempotency.caller, idempotency.scope, idempotency.key], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, i64>(2)?))
        })
        .optional()
        .map_err(sql_error)?;
    match found {
        Some((_, _, answered_at)) if now.as_millis() - answered_at >= IDEMPOTENCY_KEPT_MS => Ok(Earlier::None),
        Some((fingerprint, _, _)) if fingerprint != idempotency.fingerprint => Ok(Earlier::OtherBody),
        Some((_, answer, _)) => {
            serde_json::from_slice(&answer).map(Earlier::Answered).map_err(|e| StoreError::broken("once_answer", e))
        }
        None => Ok(Earlier::None),
    }
}

/// Keeps the answer under the key.
pub(crate) fn remember<T: Serialize>(
    tx: &Connection,
    idempotency: &Idempotency,
    answer: &T,
    now: Timestamp,
) -> Result<(), StoreError> {
    let answer = serde_json::to_vec(answer).map_err(|e| StoreError::broken("once_answer", e))?;
    let mut remember = tx.prepare_cached(REMEMBER).map_err(sql_error)?;
    remember
        .execute(params![
            idempotency.caller,
            idempotency.scope,
            idempotency.key,
            idempotency.fingerprint,
            answer,
            now.as_millis()
        ])
        .map_err(sql_error)?;
    Ok(())
}

/// Removes up to `limit` answers given before `before`; returns how many.
pub(crate) fn purge(tx: &Connection, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
    let mut purge = tx.prepare_cached(PURGE).map_err(sql_error)?;
    purge.execute(params![before.as_millis(), limit as i64]).map_err(sql_error)
}
