//! What the messages are like: most are fine, some fail by themselves for a while or for ever.

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::Message;
use rand::RngExt;
use rand::rngs::SmallRng;

pub(crate) const TOPIC: &str = "t";
pub(crate) const GROUPS: [&str; 2] = ["merge", "ledger"];
/// The group whose effect is the projection that readers see through the cache.
pub(crate) const PROJECTING: usize = 0;
const KEYS: u64 = 12;

/// How a message behaves, wherever it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Fine,
    /// The log refuses it so many times.
    RefusedFor(u32),
    /// The log always refuses it.
    RefusedForEver,
    /// Each group's handler fails so many times.
    FailsFor(u32),
    /// Each group's handler always fails.
    FailsForEver,
    /// No handler can read it.
    Undecodable,
}

impl Nature {
    pub(crate) fn drawn(chance: &mut SmallRng) -> Self {
        match chance.random_range(0..100) {
            0..2 => Self::RefusedForEver,
            2..5 => Self::RefusedFor(chance.random_range(1..3)),
            5..7 => Self::FailsForEver,
            7..11 => Self::FailsFor(chance.random_range(1..8)),
            11..12 => Self::Undecodable,
            _ => Self::Fine,
        }
    }

    pub(crate) fn refuses_for_a_while(self) -> bool {
        matches!(self, Self::RefusedFor(_) | Self::RefusedForEver)
    }
}

/// One of a few keys.
pub(crate) fn key(chance: &mut SmallRng) -> String {
    format!("k{}", chance.random_range(0..KEYS))
}

/// A message of one of a few keys.
pub(crate) fn message(id: i64, shard: u8, now_ms: u64, chance: &mut SmallRng) -> Message {
    Message {
        event_id: EventId::from_raw(id),
        topic: TOPIC.to_owned(),
        key: key(chance),
        shard: ShardId::new(shard).unwrap_or(ShardId::HOME),
        occurred_at: Timestamp::from_millis(now_ms as i64),
        headers: Vec::new(),
        payload: Bytes::new(),
    }
}
