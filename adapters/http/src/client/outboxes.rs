//! The outboxes of peers, of which it is asked whether something waits in them.

use std::sync::Arc;

use async_trait::async_trait;
use madang_kernel::Timestamp;
use madang_messaging::{Outage, UnsentMessages};

use super::HttpPeers;
use crate::wire::{OutboxOf, UnsentBefore};

/// The outbox of a role that peers have.
pub struct PeerOutbox {
    peers: Arc<HttpPeers>,
    of: OutboxOf,
}

impl PeerOutbox {
    /// The outbox of the peers with this role.
    pub fn new(peers: Arc<HttpPeers>, of: OutboxOf) -> Self {
        Self { peers, of }
    }
}

#[async_trait]
impl UnsentMessages for PeerOutbox {
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage> {
        let group = match self.of {
            OutboxOf::Article => &*self.peers.articles,
            OutboxOf::Comment => &*self.peers.comments,
            OutboxOf::Like => &self.peers.likes,
            OutboxOf::View => &self.peers.views,
        };
        let answer = group.ask(&UnsentBefore { outbox: self.of, moment_ms: moment.as_millis() }).await;
        answer.map(|answer| answer.is_unsent).map_err(|error| Outage::new(group.role(), error.to_string()))
    }
}
