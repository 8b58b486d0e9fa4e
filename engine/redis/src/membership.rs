//! Which instances are alive, by the server's clock.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::Clock;
use madang_messaging::{InstanceId, Membership, Outage};
use redis::{FromRedisValue, Value};

use crate::{Command, Failure, Redis, Script, Tag};

/// A service of which nobody beats is forgotten after this.
const SERVICE_KEPT_MS: u64 = 24 * 3_600_000;

static BEAT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/membership/beat.lua")));

/// Membership in Redis: one sorted set a service. Redis empty again is a membership of whoever beats next, so every
/// instance is back within one heartbeat.
#[derive(Clone)]
pub struct RedisMembership {
    redis: Redis,
    clock: Option<Arc<dyn Clock>>,
}

impl RedisMembership {
    /// Ages by the clock of the server: one wrong host clock evicts nobody.
    pub fn new(redis: Redis) -> Self {
        Self { redis, clock: None }
    }

    /// Ages by a clock that a test can set.
    pub fn aged_by(redis: Redis, clock: Arc<dyn Clock>) -> Self {
        Self { redis, clock: Some(clock) }
    }

    async fn living_after(&self, service: &str, beats: &str, dead_after: Duration) -> Result<Vec<InstanceId>, Failure> {
        let (tag, key) = self.instances(service);
        let now = self.clock.as_ref().map(|clock| clock.now().as_millis().to_string()).unwrap_or_default();
        let dead_after_ms = u64::try_from(dead_after.as_millis()).unwrap_or(u64::MAX).min(SERVICE_KEPT_MS);
        let command = Command::script(tag, &BEAT, &[key]).arg(beats).arg(dead_after_ms).arg(now).arg(SERVICE_KEPT_MS);
        let living = Vec::<String>::from_redis_value(self.redis.ask(command).await?);
        let mut living = living.map_err(|error| Failure::reply(&error.to_string()))?;
        // The order that every process must agree on is not left to the server's locale.
        living.sort_unstable();
        Ok(living.into_iter().map(InstanceId::new).collect())
    }

    fn instances(&self, service: &str) -> (Tag, String) {
        let tag = Tag::new("members");
        let key = self.redis.key(&tag, &format!(":{service}"));
        (tag, key)
    }
}

#[async_trait]
impl Membership for RedisMembership {
    async fn beat(
        &self,
        service: &str,
        instance: &InstanceId,
        dead_after: Duration,
    ) -> Result<Vec<InstanceId>, Outage> {
        Ok(self.living_after(service, instance.as_str(), dead_after).await?)
    }

    async fn living(&self, service: &str, dead_after: Duration) -> Result<Vec<InstanceId>, Outage> {
        Ok(self.living_after(service, "", dead_after).await?)
    }

    async fn leave(&self, service: &str, instance: &InstanceId) -> Result<(), Outage> {
        let (tag, key) = self.instances(service);
        let command = Command::new(tag, "ZREM").arg(key).arg(instance.as_str());
        self.redis.ask(command).await.map(|_: Value| ()).map_err(Outage::from)
    }
}
