//! What processes ask of the parts, and what the parts answer: the effects and inputs of the machines, on the wire.

use madang_messaging::relay::Write;
use madang_messaging::{Delivery, Handled, HandlerError, Message, Position, consumer, coordinator, relay};

use crate::faults::Part;

/// Which machine of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Coordinator,
    Relay,
    /// A level of a group.
    Level(usize, usize),
    /// The writer that publishes by itself, when there is no outbox.
    Writer,
    /// Somebody who reads through the cache.
    Reader,
}

#[derive(Debug, Clone)]
pub(crate) enum Request {
    Beat,
    Read,
    Claim {
        shards: Vec<u8>,
        limit: usize,
    },
    Publish(Vec<Message>),
    Write(Write),
    Join,
    Poll {
        max: usize,
        max_wait_ms: u64,
    },
    Handle(Vec<Delivery>),
    Commit(Vec<Position>),
    /// The handler has committed, and tells the cache; then it answers.
    Invalidate {
        keys: Vec<(String, u32)>,
        answers: Vec<Result<Handled, HandlerError>>,
    },
    /// A reader looks into the cache.
    Look {
        key: String,
    },
    /// It found nothing, and reads the projection.
    Load {
        key: String,
    },
    /// It brings what it read into the cache.
    Fill {
        key: String,
        version: u32,
    },
}

impl Request {
    pub(crate) fn part(&self) -> Part {
        match self {
            Self::Beat | Self::Read => Part::Membership,
            Self::Claim { .. } | Self::Write(_) | Self::Handle(_) | Self::Load { .. } => Part::Store,
            Self::Invalidate { .. } | Self::Look { .. } | Self::Fill { .. } => Part::Cache,
            Self::Publish(_) | Self::Join | Self::Poll { .. } | Self::Commit(_) => Part::Log,
        }
    }

    /// Whether it changes something.
    pub(crate) fn is_weighty(&self) -> bool {
        matches!(self, Self::Publish(_) | Self::Write(_) | Self::Handle(_) | Self::Commit(_) | Self::Invalidate { .. })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Beat => "beats",
            Self::Read => "reads who lives",
            Self::Claim { .. } => "claims",
            Self::Publish(_) => "publishes",
            Self::Write(Write::Delete(_)) => "deletes",
            Self::Write(Write::Release(_)) => "releases",
            Self::Write(Write::Park(_)) => "parks",
            Self::Write(Write::Bury(..)) => "buries",
            Self::Join => "joins",
            Self::Poll { .. } => "polls",
            Self::Handle(_) => "handles",
            Self::Commit(_) => "commits offsets",
            Self::Invalidate { .. } => "invalidates",
            Self::Look { .. } => "looks into the cache",
            Self::Load { .. } => "loads",
            Self::Fill { .. } => "fills the cache",
        }
    }
}

/// What a machine, a handler or a reader is told.
#[derive(Debug)]
pub(crate) enum Reply {
    Coordinator(coordinator::Input),
    Relay(relay::Input),
    Level(consumer::Input),
    /// To the handler of a level: it is committed, these keys have changed.
    Applied {
        keys: Vec<(String, u32)>,
        answers: Vec<Result<Handled, HandlerError>>,
    },
    /// To a reader: what the cache has.
    Seen {
        key: String,
        cached: Option<u32>,
    },
    /// To a reader: what the projection shows.
    Loaded {
        key: String,
        version: u32,
    },
    Nothing,
}
