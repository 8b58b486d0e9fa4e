//! The outbox port: messages that committed with their change and wait to be published.

use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::{EventId, ShardId, Timestamp};

use crate::{Message, Outage};

/// A message in the outbox, with what has happened to it so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// What to publish.
    pub message: Message,
    /// How often it has been claimed, this time included.
    pub attempts: u32,
}

/// What the relay asks for.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Only rows of these shards.
    pub shards: Vec<ShardId>,
    /// Only rows at least this old by the store's clock: younger ones are still on their way by direct hand-over.
    pub min_age: Duration,
    /// At most so many.
    pub limit: usize,
}

/// A row that failed by itself and waits with its key for another attempt.
#[derive(Debug, Clone)]
pub struct Failed {
    /// The row.
    pub event_id: EventId,
    /// How long its key is parked, by the store's clock from now.
    pub park_for: Duration,
    /// What went wrong.
    pub reason: String,
}

/// How much waits in the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutboxBacklog {
    /// Rows not yet published, parked ones included, dead ones not.
    pub unsent: u64,
    /// Rows whose key is parked.
    pub parked: u64,
    /// Age of the oldest unsent row.
    pub oldest_age: Duration,
}

/// Tells whether messages of some time may be unsent: an outbox, or a process that has it.
#[async_trait]
pub trait UnsentMessages: Send + Sync {
    /// Whether a message that was inserted up to a moment, by the store's clock, may still be unsent: one is there, or the
    /// moment is so near, or still ahead of that clock, that a transaction may yet commit one.
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage>;
}

/// Where committed messages wait. Rows are inserted by the stores, in the transaction of the change.
#[async_trait]
pub trait Outbox: UnsentMessages {
    /// Rows that are unsent and due, found by their state and never by "greater than the last id", oldest first within a
    /// shard. Counts an attempt on each row it returns, so that a row that kills its relay is counted too. Leaves out
    /// every row whose key is parked.
    async fn claim(&self, claim: Claim) -> Result<Vec<OutboxRow>, Outage>;
    /// Takes back the attempt of rows that were claimed and not tried: the log was away.
    async fn release(&self, rows: &[EventId]) -> Result<(), Outage>;
    /// Removes published rows, all in one statement. Rows that are already gone are no error.
    async fn delete(&self, rows: &[EventId]) -> Result<(), Outage>;
    /// Parks the keys of rows that failed by themselves.
    async fn park(&self, rows: &[Failed]) -> Result<(), Outage>;
    /// Moves a row that has used up its attempts to the dead letters, in one transaction, and frees its key.
    async fn bury(&self, row: EventId, reason: &str) -> Result<(), Outage>;
    /// How much waits.
    async fn backlog(&self) -> Result<OutboxBacklog, Outage>;
}
