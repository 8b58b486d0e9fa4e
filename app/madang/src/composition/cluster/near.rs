//! The near caches of the processes, kept right by one another: each broadcasts the versions and counts of what it committed,
//! and corrects what it has in memory by what the others say. A broadcast may be lost; then the TTL of the cache is the net.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::{Invalidation, ReadService};
use madang_engine_redis::{RedisBroadcast, Subscriber};
use madang_event::Envelope;
use madang_memory::{Announce, NearReadModel, Origin};
use madang_messaging::{OnError, Supervisor};
use serde::{Deserialize, Serialize};

/// The broadcast of invalidations, as its channel is named.
const BROADCAST: &str = "near";
/// The one topic of it: every process reads every board.
const TOPIC: u64 = 0;
/// Changes in one message.
const MESSAGE_CHANGES_MAX: usize = 256;

/// Tells the near caches of other processes what changed. Clones share it.
#[derive(Clone)]
pub(super) struct Invalidations {
    broadcast: RedisBroadcast,
    /// Which process this is: it has no use for its own messages.
    sender: u64,
}

/// A message between near caches.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    #[serde(rename = "s")]
    sender: u64,
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Invalidation>,
    /// The whole model was cleared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cleared: bool,
}

impl Invalidations {
    pub(super) fn new(redis: madang_engine_redis::Redis) -> Self {
        Self { broadcast: RedisBroadcast::new(redis, BROADCAST), sender: rand::random() }
    }

    /// Broadcasts what this process committed, and tells it.
    pub(super) fn publish(&self, events: &[Envelope]) -> Vec<Invalidation> {
        let changes: Vec<_> = events.iter().filter_map(Invalidation::of).collect();
        for changes in changes.chunks(MESSAGE_CHANGES_MAX) {
            self.broadcast.publish(TOPIC, self.message(changes.to_vec(), false));
        }
        changes
    }

    fn message(&self, changes: Vec<Invalidation>, cleared: bool) -> Vec<u8> {
        // Numbers and names only, which always can be written.
        serde_json::to_vec(&Message { sender: self.sender, changes, cleared }).unwrap_or_default()
    }

    /// Starts what sends invalidations and, where the process reads, what receives those of others.
    pub(super) fn start(
        &self,
        background: &Supervisor,
        near: Option<&Arc<NearReadModel>>,
        read: Option<&Arc<ReadService>>,
    ) {
        let sender = self.broadcast.clone();
        background.spawn("near-send", OnError::Restart, move |stop| {
            let sender = sender.clone();
            async move { sender.send(stop).await }
        });
        let Some(near) = near else { return };
        self.broadcast.subscribe(TOPIC);
        let receiver = Arc::new(Receiver { near: Arc::clone(near), read: read.cloned(), sender: self.sender });
        let broadcast = self.broadcast.clone();
        background.spawn("near-receive", OnError::Restart, move |stop| {
            let (broadcast, receiver) = (broadcast.clone(), Arc::clone(&receiver));
            async move { broadcast.receive(receiver.as_ref(), stop).await }
        });
    }
}

#[async_trait]
impl Announce for Invalidations {
    /// A command clears the model too, and runs nothing that sends.
    async fn cleared(&self) {
        if let Err(failure) = self.broadcast.send_now(TOPIC, &self.message(Vec::new(), true)).await {
            tracing::warn!(
                "near cache: other processes were not told that the query model was cleared and show what they have for up to a second: {failure}"
            );
        }
    }
}

/// Receives the invalidations of other processes.
struct Receiver {
    near: Arc<NearReadModel>,
    /// Reading in this process, which keeps rankings.
    read: Option<Arc<ReadService>>,
    sender: u64,
}

impl Subscriber for Receiver {
    fn received(&self, _topic: u64, message: &[u8]) {
        match serde_json::from_slice::<Message>(message) {
            Ok(message) if message.sender == self.sender => {}
            Ok(message) => {
                if message.cleared {
                    self.near.forget();
                }
                if let Some(read) = &self.read {
                    read.hear(&message.changes);
                }
                self.near.invalidate(&message.changes, Origin::Other);
            }
            // Of a newer version of the program: whatever it says, something changed.
            Err(_) => self.near.forget(),
        }
    }

    fn subscribed(&self, topics: &[u64]) {
        if topics.contains(&TOPIC) {
            self.near.connected();
        }
    }

    fn disconnected(&self) {
        self.near.disconnected();
    }
}

#[cfg(test)]
mod tests {
    use madang_article_read::{Activity, BoardChange, Count, Discussion, Floor, Presence};
    use madang_board::{ArticleId, BoardId};
    use madang_event::BoardCount;
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn a_message_survives_its_way() {
        let article_id = ArticleId::from_raw(i64::MAX);
        let count = BoardCount { article_count: 3, version: u64::MAX };
        let board = BoardChange { board_id: BoardId::from_raw(1), article_id, presence: Presence::Gone, count };
        let floor = Floor {
            text: Some(2),
            deleted: Some(u64::MAX),
            comments: Some(Discussion { count: 1, locked: true, last: None, version: 2 }),
            likes: Some(Count { count: 3, version: u64::MAX }),
        };
        let board_id = Some(BoardId::from_raw(1));
        let activity = Activity::Discussed { board_id, last_at_ms: Some(5), version: u64::MAX };
        let changes = vec![
            Invalidation { article_id, floor, board: Some(board), activity: Some(activity) },
            Invalidation { article_id, floor: Floor::default(), board: None, activity: None },
        ];
        for message in [
            Message { sender: u64::MAX, changes, cleared: false },
            Message { sender: 0, changes: Vec::new(), cleared: true },
        ] {
            let bytes = serde_json::to_vec(&message).unwrap();
            assert_eq!(serde_json::from_slice::<Message>(&bytes).unwrap(), message);
        }
    }
}
