//! Sends pending messages, many in one round trip.

use std::convert::Infallible;

use madang_messaging::Stop;

use super::{RedisBroadcast, locked};
use crate::{Command, Failure, Tag};

/// Messages sent at once.
const BATCH_MAX: usize = 512;
/// Nodes that share the work of passing messages on.
const TAGS: u64 = 64;

impl RedisBroadcast {
    /// Sends what is published until `stop`. What cannot be sent is dropped: it would be old by the time Redis is back.
    pub async fn send(&self, stop: Stop) -> Result<(), Infallible> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.inner.has_pending.notified() => {}
            }
            loop {
                let batch = self.next_batch();
                if batch.is_empty() {
                    break;
                }
                let messages = batch.len();
                if let Err(failure) = self.inner.redis.run(batch).await {
                    tracing::debug!(messages, "broadcast: messages to other processes were dropped: {failure}");
                }
            }
        }
    }

    /// Sends one message at once, also where nothing sends what is published; tells whether Redis took it.
    pub async fn send_now(&self, topic: u64, message: &[u8]) -> Result<(), Failure> {
        self.inner.redis.ask(self.command(topic, message)).await.map(drop)
    }

    fn next_batch(&self) -> Vec<Command> {
        let mut pending = locked(&self.inner.pending);
        let count = pending.len().min(BATCH_MAX);
        let messages: Vec<_> = pending.drain(..count).collect();
        drop(pending);
        messages.into_iter().map(|(topic, message)| self.command(topic, &message)).collect()
    }

    fn command(&self, topic: u64, message: &[u8]) -> Command {
        // A channel belongs to no node; messages of one topic take one way, so that they keep their order.
        let tag = Tag::new(format_args!("{}{}", self.inner.name, topic % TAGS));
        Command::new(tag, "PUBLISH").arg(self.channel(topic)).arg(message)
    }
}
