//! The same program on `engine/redis`: what belongs together carries one hash tag, and redirections are followed.

use std::sync::LazyLock;

use madang_engine_redis::{Command, Failure, Redis, RedisOptions, Script, Tag, Value};

/// How long a call may take, on a machine that does other things too: the question is what moving slots do to callers.
const PATIENCE_MS: u64 = 10_000;

static DEPOSIT: LazyLock<Script> =
    LazyLock::new(|| Script::new("redis.call('INCRBY', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[2])"));

pub(super) struct Client {
    redis: Redis,
}

impl Client {
    pub(super) async fn connect(urls: Vec<String>) -> anyhow::Result<Self> {
        let patient = RedisOptions {
            response_timeout_ms: PATIENCE_MS,
            connect_timeout_ms: PATIENCE_MS,
            ..RedisOptions::cluster("lab", urls)
        };
        Ok(Self { redis: Redis::connect(&patient).await? })
    }

    fn keys(&self, tag: &Tag) -> [String; 2] {
        [self.redis.key(tag, ":balance"), self.redis.key(tag, ":version")]
    }

    /// Balance and version in one command.
    pub(super) async fn read(&self, account: u32) -> Result<Value, Failure> {
        let tag = Tag::new(account);
        let [balance, version] = self.keys(&tag);
        self.redis.ask(Command::new(tag, "MGET").arg(balance).arg(version)).await
    }

    /// Balance and version in one transaction.
    pub(super) async fn write(&self, account: u32, balance: i64, version: i64) -> Result<(), Failure> {
        let tag = Tag::new(account);
        let [balance_key, version_key] = self.keys(&tag);
        let command = |name| Command::new(tag.clone(), name);
        let transaction = vec![
            command("MULTI"),
            command("SET").arg(balance_key).arg(balance),
            command("SET").arg(version_key).arg(version),
            command("EXEC"),
        ];
        self.redis.run(transaction).await.map(drop)
    }

    /// Balance and version by one script.
    pub(super) async fn deposit(&self, account: u32, amount: i64) -> Result<Value, Failure> {
        let tag = Tag::new(account);
        let keys = self.keys(&tag);
        self.redis.ask(Command::script(tag, &DEPOSIT, &keys).arg(amount)).await
    }

    /// One key alone.
    pub(super) async fn count(&self, account: u32) -> Result<Value, Failure> {
        let tag = Tag::new(account);
        let key = count_key(&self.redis, &tag);
        self.redis.ask(Command::new(tag, "INCR").arg(key)).await
    }

    /// A key that all keys of an account share their slot with.
    pub(super) fn any_key(&self, account: u32) -> String {
        count_key(&self.redis, &Tag::new(account))
    }

    /// What the keys of an account hold: balance, version and count.
    pub(super) async fn held(&self, account: u32) -> Result<[i64; 3], Failure> {
        let tag = Tag::new(account);
        let [balance, version] = self.keys(&tag);
        let keys = [balance, version, count_key(&self.redis, &tag)];
        let found = self.redis.ask(Command::new(tag, "MGET").arg(&keys)).await?;
        let found: Vec<Option<i64>> =
            redis::FromRedisValue::from_redis_value(found).map_err(|error| Failure::Defect(error.to_string()))?;
        let at = |index: usize| found.get(index).copied().flatten().unwrap_or(0);
        Ok([at(0), at(1), at(2)])
    }

    /// Removes the keys of an account.
    pub(super) async fn forget(&self, account: u32) -> Result<(), Failure> {
        let tag = Tag::new(account);
        let [balance, version] = self.keys(&tag);
        let keys = [balance, version, count_key(&self.redis, &tag)];
        self.redis.ask(Command::new(tag, "UNLINK").arg(&keys)).await.map(drop)
    }
}

fn count_key(redis: &Redis, tag: &Tag) -> String {
    redis.key(tag, ":count")
}
