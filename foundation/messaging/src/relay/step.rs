//! What goes into a step of the relay, and what comes out.

use madang_kernel::{EventId, ShardId};

use crate::{Assignment, Failed, Message, Outage, OutboxRow, PublishOutcome};

/// What happens to the relay.
#[derive(Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// Messages that have just been committed, in commit order. Their rows are in the outbox.
    HandedOver(Vec<Message>),
    /// The shards whose rows are to be polled from now on.
    Assigned(Assignment),
    /// The answer to [`Effect::Claim`].
    Claimed(Result<Vec<OutboxRow>, Outage>),
    /// The answer to [`Effect::Publish`].
    Published(Result<Vec<PublishOutcome>, Outage>),
    /// The answer to [`Effect::Write`].
    Written(Result<(), Outage>),
    /// Publish what is in flight and finish.
    Stop,
}

/// What the relay wants done. At most one of each kind is under way at a time.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Claim rows that are old enough, of these shards, at most so many.
    Claim {
        /// The shards.
        shards: Vec<ShardId>,
        /// The most rows.
        limit: usize,
    },
    /// Publish in this order.
    Publish(Vec<Message>),
    /// Tell the outbox what became of rows.
    Write(Write),
    /// Something worth counting or logging.
    Note(Note),
    /// Nothing more will come.
    Stopped,
}

/// What the outbox is told.
#[derive(Debug, Clone)]
pub enum Write {
    /// These are published.
    Delete(Vec<EventId>),
    /// These were claimed and not tried.
    Release(Vec<EventId>),
    /// These were refused; their keys wait.
    Park(Vec<Failed>),
    /// This one is given up.
    Bury(EventId, String),
}

/// What is worth counting or logging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// So many messages are in the log.
    Published(usize),
    /// So many messages were published again whose first sending is unknown.
    Duplicates(usize),
    /// A key waits because its message was refused.
    Parked {
        /// The key.
        key: String,
        /// Claims so far.
        attempts: u32,
        /// What the log said.
        reason: String,
    },
    /// A message goes to the dead letters.
    Buried {
        /// The message.
        event_id: EventId,
        /// What the log said last.
        reason: String,
    },
    /// So many handed-over messages are left to polling.
    LeftToPolling(usize),
    /// So many rows were too late or of shards lost meanwhile.
    Dropped(usize),
    /// A part is away; the relay pauses.
    Paused(Outage),
    /// A part answers again.
    Resumed(&'static str),
}
