//! What a service implements to consume: apply deliveries, and rebuild when the log has nothing older to offer.

use async_trait::async_trait;

use crate::{Delivery, HandlerError, Outage};

/// How a delivery was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// Applied, or found to be applied already; the offset is still to be stored.
    Done,
    /// Applied, and its offset stored in the same transaction.
    DoneWithOffset,
}

/// Applies the messages of one consumer group.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Applies deliveries in the order given, with one answer each. It may answer for the first few only; the rest is
    /// handed in again. A handler that stores offsets itself ends its answer with its first error: a position stored past
    /// a failed delivery would skip it.
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>>;

    /// The log no longer holds what the group has not read: builds derived data anew from its owners.
    async fn rebuild(&self) -> Result<(), Outage> {
        Ok(())
    }
}
