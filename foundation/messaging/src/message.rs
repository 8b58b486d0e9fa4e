//! A message as the outbox holds it, the log carries it and a consumer receives it.

use std::fmt;

use bytes::Bytes;
use madang_kernel::{EventId, ShardId, Timestamp};
use serde::{Deserialize, Serialize};

/// Names of the headers that this crate writes.
pub mod header {
    /// Attempts made so far, on every rung of the retry ladder together.
    pub const ATTEMPTS: &str = "attempts";
    /// Unix milliseconds before which a retry rung does not hand the message out.
    pub const NOT_BEFORE_MS: &str = "not-before-ms";
    /// The topic to which the message was first published.
    pub const ORIGINAL_TOPIC: &str = "original-topic";
    /// What went wrong last.
    pub const REASON: &str = "reason";
    /// How many bytes the payload had of which a dead letter keeps the beginning only.
    pub const CUT_FROM_BYTES: &str = "cut-from-bytes";
    /// Where the record lies whose beginning a dead letter keeps: `topic/partition/offset`.
    pub const RECORD: &str = "record";
    /// The consumer group whose ladder the message is on.
    pub const GROUP: &str = "group";
}

/// One published fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Stable through every retry and replay.
    pub event_id: EventId,
    /// Where it is published.
    pub topic: String,
    /// What orders it: messages of one key stay in one partition.
    pub key: String,
    /// The logical shard whose store wrote it.
    pub shard: ShardId,
    /// When the change was committed.
    pub occurred_at: Timestamp,
    /// Attributes beside the payload.
    pub headers: Vec<(String, String)>,
    /// The event, opaque to this crate.
    pub payload: Bytes,
}

impl Message {
    /// The value of a header, if it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Sets a header, replacing an earlier value.
    pub fn set_header(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.headers.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.headers.push((name.to_owned(), value)),
        }
    }
}

/// A consumer group: everyone who shares one set of offsets and one retry ladder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupId(String);

impl GroupId {
    /// Names a group.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
