//! The membership port: which instances of a service are alive, by the store's clock.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Outage;

/// One running process of a service.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InstanceId(String);

impl InstanceId {
    /// Names an instance; must be unique among all that ever run at the same time.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who is alive.
#[async_trait]
pub trait Membership: Send + Sync {
    /// Says that `instance` of `service` is alive, forgets those silent for longer than `dead_after`, and returns the
    /// living in order. Both moments are the store's: one wrong host clock must not evict everybody.
    async fn beat(&self, service: &str, instance: &InstanceId, dead_after: Duration)
    -> Result<Vec<InstanceId>, Outage>;
    /// The living in order, without saying anything.
    async fn living(&self, service: &str, dead_after: Duration) -> Result<Vec<InstanceId>, Outage>;
    /// Leaves at once, so that the shards move without waiting for `dead_after`.
    async fn leave(&self, service: &str, instance: &InstanceId) -> Result<(), Outage>;
}
