//! Which consumer groups were told to rest, for every process of a site.

use madang_messaging::Outage;
use redis::{FromRedisValue, Value};

use crate::Redis;
use crate::call::{Call, Tag};
use crate::errors::Failure;

/// A rest that nobody ended ends after this: the log does not keep what a forgotten group has not read for ever.
const REST_MAX_MS: u64 = 24 * 3_600_000;

/// Rests in Redis. Redis empty again is a site of which every group goes on, as after a restart of one process alone.
#[derive(Clone)]
pub struct RedisRests {
    redis: Redis,
}

impl RedisRests {
    /// The rests of a site.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Has a group rest, in every process, for a day at most.
    pub async fn rest(&self, group: &str) -> Result<(), Outage> {
        let (tag, key) = self.of(group);
        let call = Call::command(tag, "SET").arg(key).arg(1).arg("PX").arg(REST_MAX_MS);
        self.redis.ask(call).await.map(|_: Value| ()).map_err(Outage::from)
    }

    /// Lets a group go on.
    pub async fn go_on(&self, group: &str) -> Result<(), Outage> {
        let (tag, key) = self.of(group);
        self.redis.ask(Call::command(tag, "DEL").arg(key)).await.map(|_: Value| ()).map_err(Outage::from)
    }

    /// Which of these rest, in their order.
    pub async fn are_resting(&self, groups: &[&str]) -> Result<Vec<bool>, Outage> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<String> = groups.iter().map(|group| self.of(group).1).collect();
        let found = self.redis.ask(Call::command(tag(), "MGET").arg(keys)).await?;
        let found = Vec::<Option<String>>::from_redis_value(found).map_err(|error| Failure::reply(&error.to_string()));
        Ok(found?.iter().map(Option::is_some).collect())
    }

    fn of(&self, group: &str) -> (Tag, String) {
        let key = self.redis.key(&tag(), &format!(":{group}"));
        (tag(), key)
    }
}

/// One for all groups, so that one question asks for all of them.
fn tag() -> Tag {
    Tag::new("rests")
}
