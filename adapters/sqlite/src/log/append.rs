//! Appending: the one statement that writes into the log.

use madang_kernel::Id;
use madang_messaging::Message;
use rusqlite::{Connection, params};

use crate::rows;

const APPEND: &str = include_str!("../../sql/log/append.sql");

/// Appends one entry in the caller's transaction and returns its position. Subscribers wake up after the COMMIT.
pub(crate) fn append(tx: &Connection, message: &Message) -> rusqlite::Result<i64> {
    tx.prepare_cached(APPEND)?.insert(params![
        message.event_id.raw(),
        message.topic,
        message.key,
        message.shard.number(),
        message.occurred_at.as_millis(),
        rows::headers_json(message),
        &message.payload[..],
    ])
}
