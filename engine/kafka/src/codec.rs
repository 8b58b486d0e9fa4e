//! A message as a Kafka record and back, without loss: CloudEvents attributes for everybody, and ours beside them.
//!
//! The payload and, on every topic but those of dead letters, the key travel as they are. Headers of the message travel
//! under their own names; a name that Kafka or these attributes could mistake is carried inside a value.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::Message;
use rdkafka::message::{BorrowedMessage, Header, Headers, Message as _, OwnedHeaders};

/// The names that this file writes start with one of these.
const RESERVED: [&str; 2] = ["ce_", "madang-"];
const SHARD: &str = "madang-shard";
const OCCURRED_AT_MS: &str = "madang-occurred-at-ms";
/// The key of a dead letter, whose record is keyed by its own name.
const KEY: &str = "madang-key";
/// A header whose name cannot travel as one: length of the name in bytes, a colon, name, value.
const ESCAPED: &str = "madang-header";
/// Marks the record that removes a dead letter.
const REMOVED: &str = "madang-removed";

/// What the attributes tell of a program beside its messages.
#[derive(Debug, Clone)]
pub(crate) struct Attributes {
    /// The program's name.
    pub(crate) program: String,
    /// The type of an event, where the program knows it.
    pub(crate) event_type: fn(&Message) -> Option<&str>,
}

/// The headers of a record; `keyed_apart` when the record's key is not the message's.
pub(crate) fn headers(message: &Message, attributes: &Attributes, keyed_apart: bool) -> OwnedHeaders {
    let mut headers = OwnedHeaders::new_with_capacity(message.headers.len() + 8);
    let mut put = |name: &str, value: &str| {
        let empty = std::mem::replace(&mut headers, OwnedHeaders::new_with_capacity(0));
        headers = empty.insert(Header { key: name, value: Some(value) });
    };
    put("ce_specversion", "1.0");
    put("ce_id", &message.event_id.raw().to_string());
    put("ce_type", &type_of(message, attributes));
    put("ce_source", &format!("/{}/shards/{}", attributes.program, message.shard.number()));
    put("ce_time", &message.occurred_at.to_string());
    put(SHARD, &message.shard.number().to_string());
    put(OCCURRED_AT_MS, &message.occurred_at.as_millis().to_string());
    if keyed_apart {
        put(KEY, &message.key);
    }
    for (name, value) in &message.headers {
        if name.is_empty() || name.contains('\0') || RESERVED.iter().any(|start| name.starts_with(start)) {
            put(ESCAPED, &format!("{}:{name}{value}", name.len()));
        } else {
            put(name, value);
        }
    }
    headers
}

/// The type of an event, from its header where the writer set one, else from the program; where neither knows, a name that
/// every message of the program has.
fn type_of<'a>(message: &'a Message, attributes: &Attributes) -> Cow<'a, str> {
    let told = message.header("type").or_else(|| (attributes.event_type)(message));
    told.map_or_else(|| Cow::Owned(format!("{}.event", attributes.program)), Cow::Borrowed)
}

/// The headers of the record that removes a dead letter.
pub(crate) fn removal() -> OwnedHeaders {
    OwnedHeaders::new().insert(Header { key: REMOVED, value: Some("1") })
}

/// Whether this record removes the dead letter of its key.
pub(crate) fn is_removal(record: &BorrowedMessage<'_>) -> bool {
    read_headers(record).iter().any(|(name, _)| name == REMOVED)
}

/// The message in a record. Whatever the record holds, it becomes a message: one that no handler understands goes to the
/// dead letters with its bytes.
pub(crate) fn message(record: &BorrowedMessage<'_>, topic: &str) -> Message {
    let mut message = Message {
        event_id: EventId::from_raw(0),
        topic: topic.to_owned(),
        key: record.key().map(|key| String::from_utf8_lossy(key).into_owned()).unwrap_or_default(),
        shard: ShardId::HOME,
        occurred_at: written_at(record),
        headers: Vec::new(),
        payload: record.payload().map(Bytes::copy_from_slice).unwrap_or_default(),
    };
    for (name, value) in read_headers(record) {
        take(&mut message, name, value);
    }
    message
}

/// When a record was written, by its producer's clock.
pub(crate) fn written_at(record: &BorrowedMessage<'_>) -> Timestamp {
    Timestamp::from_millis(record.timestamp().to_millis().unwrap_or(0))
}

fn take(message: &mut Message, name: String, value: String) {
    match name.as_str() {
        "ce_id" => message.event_id = EventId::from_raw(value.parse().unwrap_or(0)),
        SHARD => message.shard = value.parse().ok().and_then(ShardId::new).unwrap_or(ShardId::HOME),
        OCCURRED_AT_MS => {
            if let Ok(ms) = value.parse() {
                message.occurred_at = Timestamp::from_millis(ms);
            }
        }
        KEY => message.key = value,
        ESCAPED => message.headers.extend(unescaped(&value)),
        // The other attributes say again what the message says.
        name if RESERVED.iter().any(|start| name.starts_with(start)) => {}
        _ => message.headers.push((name, value)),
    }
}

fn unescaped(value: &str) -> Option<(String, String)> {
    let (length, rest) = value.split_once(':')?;
    let length: usize = length.parse().ok()?;
    let (name, value) = rest.split_at_checked(length)?;
    Some((name.to_owned(), value.to_owned()))
}

/// Every header, as text. A foreign record may have names that are not UTF-8, over which the client library panics; it then
/// counts as one without headers.
fn read_headers(record: &BorrowedMessage<'_>) -> Vec<(String, String)> {
    let Some(headers) = record.headers() else { return Vec::new() };
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let read = AssertUnwindSafe(|| headers.iter().map(|header| (header.key.to_owned(), text(header.value))).collect());
    std::panic::catch_unwind(read).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes() -> Attributes {
        let event_type = |message: &Message| (message.payload == b"paid".as_slice()).then_some("order.paid");
        Attributes { program: "shop".into(), event_type }
    }

    fn round_trip(sent: &Message, keyed_apart: bool) -> Message {
        let mut came = Message { event_id: EventId::from_raw(0), headers: Vec::new(), ..sent.clone() };
        let headers = headers(sent, &attributes(), keyed_apart);
        for header in headers.as_borrowed().iter() {
            let value = String::from_utf8(header.value.unwrap_or_default().to_vec()).unwrap();
            take(&mut came, header.key.to_owned(), value);
        }
        came
    }

    fn sample() -> Message {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Message {
            event_id: EventId::from_raw(i64::MAX),
            topic: "t".into(),
            key: "열쇠".into(),
            shard: ShardId::new(63).unwrap(),
            occurred_at: Timestamp::from_millis(1_800_000_000_123),
            headers: vec![
                header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                header("attempts", "3"),
                header("ce_id", "an impostor"),
                header("madang-shard", "7"),
                header("", ""),
                header("nul\0inside", "값:\0"),
                header("12:", "34"),
                header("attempts", "again"),
            ],
            payload: Bytes::from_static(b"\xff\0"),
        }
    }

    #[test]
    fn a_message_comes_back_with_every_header_in_its_order() {
        assert_eq!(round_trip(&sample(), false), sample());
        assert_eq!(round_trip(&sample(), true), sample());
    }

    #[test]
    fn the_attributes_of_cloud_events_are_there_for_others_to_read() {
        let mut sent = sample();
        sent.headers.push(("type".into(), "order.created".into()));
        let headers = headers(&sent, &attributes(), false);
        let value = |name: &str| {
            let found = headers.as_borrowed().iter().find(|header| header.key == name);
            found.and_then(|header| header.value.map(|value| String::from_utf8_lossy(value).into_owned()))
        };
        assert_eq!(value("ce_id").as_deref(), Some("9223372036854775807"));
        assert_eq!(value("ce_type").as_deref(), Some("order.created"));
        assert_eq!(value("ce_source").as_deref(), Some("/shop/shards/63"));
        assert_eq!(value("ce_time").as_deref(), Some("2027-01-15T08:00:00.123Z"));
        assert_eq!(value("ce_specversion").as_deref(), Some("1.0"));
        assert!(value("traceparent").is_some());
    }

    #[test]
    fn a_program_tells_the_type_of_an_event_without_a_header() {
        let type_of = |message: &Message| type_of(message, &attributes()).into_owned();
        assert_eq!(type_of(&Message { payload: "paid".into(), ..sample() }), "order.paid");
        assert_eq!(type_of(&sample()), "shop.event");
    }

    #[test]
    fn escaped_headers_of_somebody_else_cannot_break_the_reader() {
        for value in ["", ":", "x:y", "99:short", "-1:", "1:값", "18446744073709551616:"] {
            assert_eq!(unescaped(value), None, "{value}");
        }
    }
}
