//! Messages as rows: the columns that outbox and dead letters share.

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::Message;

use crate::errors::SqlError;
use crate::statement::Values;
use crate::transaction::{Cells, bytes};

/// `shard, event_id, topic, message_key, occurred_at, headers, payload` as values.
pub(crate) fn message_values(message: &Message) -> Values {
    // Pairs of strings into memory: there is nothing that could fail.
    let headers = serde_json::to_vec(&message.headers).unwrap_or_default();
    vec![
        message.shard.number().into(),
        message.event_id.raw().into(),
        bytes(message.topic.as_str()),
        bytes(message.key.as_str()),
        message.occurred_at.as_millis().into(),
        bytes(headers),
        bytes(message.payload.to_vec()),
    ]
}

/// Reads the same columns back.
pub(crate) fn message(cells: &mut Cells) -> Result<Message, SqlError> {
    let shard: u8 = cells.next()?;
    let event_id = EventId::from_raw(cells.next()?);
    let (topic, key) = (cells.next()?, cells.next()?);
    let occurred_at = Timestamp::from_millis(cells.next()?);
    let headers: Vec<u8> = cells.next()?;
    let payload: Vec<u8> = cells.next()?;
    Ok(Message {
        event_id,
        topic,
        key,
        shard: ShardId::new(shard).ok_or_else(|| SqlError::defect(format!("there is no shard {shard}")))?,
        occurred_at,
        headers: serde_json::from_slice(&headers).map_err(SqlError::defect)?,
        payload: Bytes::from(payload),
    })
}
