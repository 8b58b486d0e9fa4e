//! Sends what waits, many words in one round trip.

use std::convert::Infallible;

use madang_messaging::Stop;

use super::{RedisBroadcast, locked};
use crate::call::{Call, Tag};

/// Words sent at once.
const BATCH_MAX: usize = 512;
/// Nodes that share the work of passing words on.
const TAGS: u64 = 64;

impl RedisBroadcast {
    /// Sends what waits until `stop`. What cannot be sent is let go: it would be old by the time Redis is back.
    pub async fn carry(&self, stop: Stop) -> Result<(), Infallible> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.inner.has_waiting.notified() => {}
            }
            loop {
                let batch = self.next_batch();
                if batch.is_empty() {
                    break;
                }
                let words = batch.len();
                if let Err(failure) = self.inner.redis.run(batch).await {
                    tracing::debug!(words, "words to other processes were let go: {failure}");
                }
            }
        }
    }

    fn next_batch(&self) -> Vec<Call> {
        let mut waiting = locked(&self.inner.waiting);
        let count = waiting.len().min(BATCH_MAX);
        let words: Vec<_> = waiting.drain(..count).collect();
        drop(waiting);
        words.into_iter().map(|(topic, word)| self.call(topic, &word)).collect()
    }

    fn call(&self, topic: u64, word: &[u8]) -> Call {
        // A channel belongs to no node; words of one topic take one way, so that they keep their order.
        let tag = Tag::new(format_args!("live{}", topic % TAGS));
        Call::command(tag, "PUBLISH").arg(self.channel(topic)).arg(word)
    }
}
