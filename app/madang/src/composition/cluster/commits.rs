//! What follows a commit of a store, before its callers are answered: the batch goes to the relay, which never waits, and
//! then into the query model, so that people read what they wrote in whichever process they ask next.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::ReadService;
use madang_engine_redis::RedisBroadcast;
use madang_event::Envelope;
use madang_messaging::{HandOver, Message};
use madang_mysql::AfterCommit;
use madang_redis::RedisReadModel;
use madang_web::LiveHub;

use super::live;

/// Follows the commits of one store.
pub(super) struct Followed {
    /// The relay of the store.
    pub(super) relay: HandOver,
    /// The query model, which waits for Redis no longer than a writer may be kept.
    pub(super) model: Arc<RedisReadModel>,
    /// The pages that are open in this process.
    pub(super) live: LiveHub,
    /// The pages that are open in others.
    pub(super) broadcast: RedisBroadcast,
    /// Reading in this process, which keeps a little on its own.
    pub(super) read: Option<Arc<ReadService>>,
}

#[async_trait]
impl AfterCommit for Followed {
    async fn committed(&self, messages: &[Message]) {
        self.relay.hand_over(messages.to_vec());
        // A message that this process wrote and cannot read is told of by whoever consumes it.
        let events: Vec<Envelope> = messages.iter().filter_map(|m| Envelope::decode(&m.payload).ok()).collect();
        self.live.publish(&events);
        live::say(&self.broadcast, &events);
        if let Some(read) = &self.read {
            read.note_committed(&events);
        }
        if let Err(error) = self.model.merge_committed(&events).await {
            metrics::counter!("madang_commits_not_merged_total").increment(1);
            tracing::debug!("a commit was not merged into the query model, and comes by the log: {error}");
        }
    }
}
