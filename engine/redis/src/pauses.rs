//! Which consumer groups an operator paused, and which records they pass over, for every process of an installation.

use madang_messaging::{Outage, Position};
use redis::{FromRedisValue, Value};

use crate::{Command, Failure, Redis, Tag};

/// A pause that nobody ended ends after this: the log does not keep what a forgotten group has not read for ever.
const PAUSE_MAX_MS: u64 = 24 * 3_600_000;
/// The tag of every pause, so that one command asks for all of them. Its name is that of deployed clusters.
const TAG: &str = "rests";
/// The set of records to pass over. No group has such a name: theirs have no colon.
const SKIPS: &str = ":skips:";

/// Pauses in Redis. After Redis lost its data every group goes on, as after a restart of one process alone.
#[derive(Clone)]
pub struct RedisPauses {
    redis: Redis,
}

impl RedisPauses {
    /// The pauses under the prefix of `redis`.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Pauses a group, in every process, for a day at most.
    pub async fn pause(&self, group: &str) -> Result<(), Outage> {
        let set = Command::new(Tag::new(TAG), "SET").arg(self.key(group)).arg(1).arg("PX").arg(PAUSE_MAX_MS);
        self.redis.ask(set).await.map(|_: Value| ()).map_err(Outage::from)
    }

    /// Lets a group go on.
    pub async fn resume(&self, group: &str) -> Result<(), Outage> {
        let delete = Command::new(Tag::new(TAG), "DEL").arg(self.key(group));
        self.redis.ask(delete).await.map(|_: Value| ()).map_err(Outage::from)
    }

    /// Which of these are paused, in their order.
    pub async fn are_paused(&self, groups: &[&str]) -> Result<Vec<bool>, Outage> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<String> = groups.iter().map(|group| self.key(group)).collect();
        let found = self.redis.ask(Command::new(Tag::new(TAG), "MGET").arg(keys)).await?;
        let found = Vec::<Option<String>>::from_redis_value(found).map_err(|error| Failure::reply(&error.to_string()));
        Ok(found?.iter().map(Option::is_some).collect())
    }

    /// Has a group pass over a record, in every process, for a day at most.
    pub async fn skip(&self, group: &str, record: &Position) -> Result<(), Outage> {
        let key = self.key(SKIPS);
        let add = Command::new(Tag::new(TAG), "SADD").arg(key.clone()).arg(format!("{group} {record}"));
        self.redis.ask(add).await.map(|_: Value| ()).map_err(Outage::from)?;
        let expire = Command::new(Tag::new(TAG), "PEXPIRE").arg(key).arg(PAUSE_MAX_MS);
        self.redis.ask(expire).await.map(|_: Value| ()).map_err(Outage::from)
    }

    /// The records that are passed over, each with its group.
    pub async fn skips(&self) -> Result<Vec<(String, Position)>, Outage> {
        let found = self.redis.ask(Command::new(Tag::new(TAG), "SMEMBERS").arg(self.key(SKIPS))).await?;
        let found = Vec::<String>::from_redis_value(found).map_err(|error| Failure::reply(&error.to_string()));
        let read = |text: &String| {
            let (group, record) = text.split_once(' ')?;
            Some((group.to_owned(), record.parse().ok()?))
        };
        Ok(found?.iter().filter_map(read).collect())
    }

    fn key(&self, group: &str) -> String {
        self.redis.key(&Tag::new(TAG), &format!(":{group}"))
    }
}
