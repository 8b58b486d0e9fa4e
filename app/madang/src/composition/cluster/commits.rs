//! What follows a commit of a store in this process: open pages and near caches at once, then the query model, before the
//! callers are answered, so that people read what they wrote in whichever process they ask next.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::ReadService;
use madang_engine_redis::RedisBroadcast;
use madang_event::Envelope;
use madang_memory::{NearReadModel, Origin};
use madang_messaging::AfterCommit;
use madang_redis::RedisReadModel;
use madang_web::LiveHub;

use super::live;
use super::near::Invalidations;

/// Follows the commits of one store.
pub(super) struct ClusterCommits {
    /// The query model, which waits for Redis no longer than a writer may be kept.
    pub(super) model: Arc<RedisReadModel>,
    /// The pages that are open in this process.
    pub(super) live: LiveHub,
    /// The pages that are open in others.
    pub(super) broadcast: RedisBroadcast,
    /// Reading in this process, which keeps a little on its own.
    pub(super) read: Option<Arc<ReadService>>,
    /// The near cache of this process.
    pub(super) near: Arc<NearReadModel>,
    /// The near caches of others.
    pub(super) invalidations: Invalidations,
}

#[async_trait]
impl AfterCommit<Envelope> for ClusterCommits {
    fn committed(&self, events: &[Envelope]) {
        // Before the near cache counts a change: whoever renders after it sees both.
        if let Some(read) = &self.read {
            read.note_committed(events);
        }
        let changes = self.invalidations.publish(events);
        self.near.invalidate(&changes, Origin::Own);
        self.live.publish(events);
        live::publish(&self.broadcast, events);
    }

    async fn before_answers(&self, events: &[Envelope]) {
        if let Err(error) = self.model.merge_committed(events).await {
            metrics::counter!("madang_commits_not_merged_total").increment(1);
            tracing::debug!("a commit was not merged into the query model and reaches it through the log: {error}");
        }
    }
}
