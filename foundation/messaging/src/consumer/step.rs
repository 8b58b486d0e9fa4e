//! What goes into a step of a level, and what comes out.

use super::handler::Handled;
use crate::{Delivery, HandlerError, Message, Outage, Polled, Position, PublishOutcome};

/// What happens to the level.
#[derive(Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// The answer to [`Effect::Subscribe`].
    Subscribed(Result<(), Outage>),
    /// The answer to [`Effect::Poll`].
    Polled(Result<Polled, Outage>),
    /// The answer to [`Effect::Handle`].
    Handled(Vec<Result<Handled, HandlerError>>),
    /// The handler panicked over what [`Effect::Handle`] handed in.
    Panicked(String),
    /// The answer to [`Effect::Publish`].
    Published(Result<Vec<PublishOutcome>, Outage>),
    /// The answer to [`Effect::Commit`].
    Committed(Result<(), Outage>),
    /// The answer to [`Effect::Rebuild`].
    Rebuilt(Result<(), Outage>),
    /// Pass over these records, now or when they come: an operator gave them up.
    Skip(Vec<Position>),
    /// Finish what is in flight, store it and poll nothing more for now.
    Rest,
    /// Poll again.
    GoOn,
    /// Finish what is in flight, store it and stop.
    Stop,
}

/// What the level wants done; one thing at a time.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Join the group.
    Subscribe,
    /// Ask for at most `max` deliveries, waiting at most `max_wait_ms`.
    Poll {
        /// The most deliveries.
        max: usize,
        /// The longest wait, in milliseconds.
        max_wait_ms: u64,
    },
    /// Hand these to the handler.
    Handle(Vec<Delivery>),
    /// Publish to the ladder.
    Publish(Vec<Message>),
    /// Store that everything up to these positions is done.
    Commit(Vec<Position>),
    /// Build the derived data anew.
    Rebuild,
    /// Something worth counting or logging.
    Note(Note),
    /// Nothing more will come.
    Stopped,
}

/// What is worth counting or logging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// So many deliveries were applied; the last one had waited so long since its change, in milliseconds.
    Applied {
        /// How many.
        count: usize,
        /// The age of the last, in milliseconds.
        age_ms: u64,
    },
    /// A message failed and is tried again in place.
    RetriedInPlace(usize),
    /// A message went onto a rung.
    Retried {
        /// Where to.
        topic: String,
        /// Its key.
        key: String,
        /// Why.
        reason: String,
    },
    /// A message went to the dead letters.
    DeadLettered {
        /// Where to.
        topic: String,
        /// Its key.
        key: String,
        /// Why.
        reason: String,
    },
    /// The log refuses even the excerpt of a dead letter; the level waits for a person, because nothing may be lost. Noted
    /// once a record.
    Stuck {
        /// Where it lies.
        record: Position,
        /// Why.
        reason: String,
    },
    /// What it was stuck at is passed.
    Unstuck,
    /// A record was passed over because an operator said so.
    Skipped {
        /// Where it lies.
        record: Position,
        /// Its key.
        key: String,
    },
    /// A part is away; the level pauses.
    Paused(Outage),
    /// The part answers again.
    Resumed,
    /// The group fell behind the log and rebuilds.
    FellBehind,
    /// Partitions went to another instance.
    Revoked(usize),
}
