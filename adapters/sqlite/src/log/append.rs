//! Appending: the one statement that writes into the log, and the one function through which events reach it.

use madang_event::{Envelope, Topic};
use madang_kernel::{Id, ShardId, StoreError};
use madang_messaging::Message;
use rusqlite::{Connection, params};

use super::under_way;
use crate::errors::sql_error;
use crate::rows;

const APPEND: &str = include_str!("../../sql/log/append.sql");

/// Writes an event to the log, in the transaction of the change it reports. Whoever listens hears it after the COMMIT.
pub(crate) fn report(tx: &Connection, envelope: Envelope) -> Result<(), StoreError> {
    let message = message(&envelope);
    let position = insert(tx, &message).map_err(sql_error)?;
    under_way::note(position, message, Some(envelope));
    Ok(())
}

/// Appends a message that is no new event (a retry, say) in the caller's transaction. Subscribers wake up after the
/// COMMIT.
pub(super) fn append(tx: &Connection, message: Message) -> rusqlite::Result<()> {
    let position = insert(tx, &message)?;
    under_way::note(position, message, None);
    Ok(())
}

fn insert(tx: &Connection, message: &Message) -> rusqlite::Result<i64> {
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

fn message(envelope: &Envelope) -> Message {
    let topic = envelope.event.topic();
    Message {
        event_id: envelope.event_id,
        topic: topic.name().to_owned(),
        key: envelope.key.to_string(),
        shard: match topic {
            Topic::Article => envelope.key.shard(),
            // What belongs to an article lives apart from its board.
            Topic::Comment | Topic::Like | Topic::View => ShardId::of_parts(envelope.key),
        },
        occurred_at: envelope.occurred_at,
        headers: Vec::new(),
        payload: envelope.encode(),
    }
}
