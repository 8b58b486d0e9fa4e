//! The inbox port: effects that are not merges happen once per group and event.

use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::EventId;

use crate::{GroupId, HandlerError, Outage, Position};

/// What became of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It happened now.
    Now,
    /// It had happened before; nothing was done.
    Before,
}

/// Remembers which events a group has applied, in the transaction of the effect.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// What a handler wants done inside the transaction; each store has its own kind.
    type Effect: Send;

    /// In one transaction: inserts the `processed_event` row first, runs the effect only if it was new, and, where the
    /// log lives in the same store, stores `position` as done. An effect that fails leaves nothing behind.
    async fn apply_once(
        &self,
        group: &GroupId,
        event: EventId,
        position: Option<&Position>,
        effect: Self::Effect,
    ) -> Result<Applied, HandlerError>;
    /// Forgets events processed longer ago than any replay reaches; returns how many.
    async fn forget_older_than(&self, age: Duration) -> Result<u64, Outage>;
}
