//! What an engine does with the events of a transaction: encodes each once for the log, and after COMMIT hands the values
//! themselves to whoever follows commits in this process.

use async_trait::async_trait;

use crate::Message;

/// An event as its program knows it.
pub trait ToMessage: Send + Sync + 'static {
    /// The message that carries it through outbox and log.
    fn to_message(&self) -> Message;
}

/// Follows the commits of one store, between COMMIT and the answers to its callers. What fails here is no caller's
/// concern: the change is committed, and its events come by the log too.
///
/// The relay is not among those who follow: an engine hands it the messages itself, at once after COMMIT and without
/// waiting, so that whatever is slow here delays no publication.
#[async_trait]
pub trait AfterCommit<E>: Send + Sync {
    /// Is told of the events of each batch at once, in commit order, and must not wait: near caches and open pages.
    fn committed(&self, events: &[E]);

    /// Is awaited before the callers of the batch are answered, while the next batch goes on: a query model behind a
    /// network, so that people read their own writes.
    async fn before_answers(&self, _events: &[E]) {}
}
