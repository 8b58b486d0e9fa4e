//! Messages that the suites of the messaging ports publish.

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::{Delivery, Message};

/// The topic that most cases use.
pub(crate) const TOPIC: &str = "madang.sample.v1";

/// Message number `number` of `key`.
pub(crate) fn message(number: i64, key: &str) -> Message {
    Message {
        event_id: EventId::from_raw(number),
        topic: TOPIC.to_owned(),
        key: key.to_owned(),
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(1_800_000_000_000 + number % 1_000),
        headers: vec![("type".to_owned(), "sample".to_owned())],
        payload: Bytes::from(format!("{{\"number\":{number}}}")),
    }
}

/// The same on another topic.
pub(crate) fn message_on(topic: &str, number: i64, key: &str) -> Message {
    Message { topic: topic.to_owned(), ..message(number, key) }
}

/// The same of another shard.
pub(crate) fn message_of(shard: u8, number: i64, key: &str) -> Message {
    Message { shard: ShardId::new(shard).expect("a shard from 0 to 63"), ..message(number, key) }
}

/// Which messages these are.
pub(crate) fn numbers<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<i64> {
    messages.into_iter().map(|message| message.event_id.raw()).collect()
}

/// Which messages were delivered.
pub(crate) fn delivered(deliveries: &[Delivery]) -> Vec<i64> {
    numbers(deliveries.iter().map(|delivery| &delivery.message))
}
