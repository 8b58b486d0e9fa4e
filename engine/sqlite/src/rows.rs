//! Messages as rows: the columns that log and dead letters share.

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::Message;
use rusqlite::Row;
use rusqlite::types::Type;

/// A bound on rows as a statement takes it.
pub fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Headers as the JSON kept in a column.
pub(crate) fn headers_json(message: &Message) -> String {
    if message.headers.is_empty() {
        return "[]".to_owned();
    }
    // Pairs of strings into memory: there is nothing that could fail.
    serde_json::to_string(&message.headers).unwrap_or_default()
}

/// Reads `event_id, topic, key, shard, occurred_at, headers, payload` from the column `first` on.
pub(crate) fn message(row: &Row<'_>, first: usize) -> rusqlite::Result<Message> {
    let shard = row.get::<_, u8>(first + 3)?;
    let headers = row.get_ref(first + 5)?.as_str()?;
    Ok(Message {
        event_id: EventId::from_raw(row.get(first)?),
        topic: row.get(first + 1)?,
        key: row.get(first + 2)?,
        shard: ShardId::new(shard).ok_or(rusqlite::Error::IntegralValueOutOfRange(first + 3, i64::from(shard)))?,
        occurred_at: Timestamp::from_millis(row.get(first + 4)?),
        headers: serde_json::from_str(headers)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(first + 5, Type::Text, Box::new(error)))?,
        payload: Bytes::copy_from_slice(row.get_ref(first + 6)?.as_blob()?),
    })
}
