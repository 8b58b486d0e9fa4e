//! Balances in Redis: a fill is taken only if nothing newer is known, and an invalidation is remembered for longer than any
//! load takes. So a slow reader cannot bring back what was invalidated while it read.

use std::sync::LazyLock;
use std::time::Duration;

use madang_engine_redis::{Command, Failure, Redis, Script, Tag, reply};

use crate::domain::AccountId;

static GET: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../../lua/get.lua")));
static FILL: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../../lua/fill.lua")));
static INVALIDATE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../../lua/invalidate.lua")));
static RELEASE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../../lua/release.lua")));

/// How long an invalidation is remembered, in milliseconds: far longer than a load may take.
const ANNOUNCED_MS: u64 = 60_000;

/// What is shown of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// What is in it.
    pub balance: i64,
    /// Which entry made it so.
    pub version: u64,
}

/// What the cache knows of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cached {
    /// The value.
    pub shown: Shown,
    /// Whether its logical TTL has not passed.
    pub is_fresh: bool,
}

/// How long an entry is fresh, and how long it is kept at all.
#[derive(Debug, Clone, Copy)]
pub struct Ttl {
    /// Then it is loaded again, by one, while the others go on with it.
    pub logical: Duration,
    /// Then it is gone.
    pub physical: Duration,
}

/// The cache.
#[derive(Debug, Clone)]
pub struct BalanceCache {
    redis: Redis,
}

impl BalanceCache {
    /// The cache in this Redis.
    #[must_use]
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// What is cached.
    pub async fn get(&self, account: AccountId) -> Result<Option<Cached>, Failure> {
        let (tag, key) = entry_key(&self.redis, account);
        let answer = self.redis.ask(Command::script(tag, &GET, &[key])).await?;
        let [version, balance, fresh] = reply::items(&answer)? else { return Ok(None) };
        let balance = reply::text(balance)?.and_then(|text| text.parse().ok());
        let balance = balance.ok_or_else(|| Failure::reply("a balance that is no number"))?;
        let shown = Shown { balance, version: reply::count(version)? };
        Ok(Some(Cached { shown, is_fresh: reply::count(fresh)? == 1 }))
    }

    /// Fills in what was loaded; false when something newer is known.
    pub async fn fill(&self, account: AccountId, shown: Shown, ttl: Ttl) -> Result<bool, Failure> {
        let (tag, keys) = self.keys(account);
        let command = Command::script(tag, &FILL, &keys).arg(shown.version).arg(shown.balance);
        let answer = self.redis.ask(command.arg(millis(ttl.logical)).arg(millis(ttl.physical))).await?;
        Ok(reply::count(&answer)? == 1)
    }

    /// Announces that the account has reached a version.
    pub async fn invalidate(&self, account: AccountId, version: u64) -> Result<(), Failure> {
        let (tag, keys) = self.keys(account);
        self.redis.ask(Command::script(tag, &INVALIDATE, &keys).arg(version).arg(ANNOUNCED_MS)).await?;
        Ok(())
    }

    /// Takes the right to load, for a bounded time; false when somebody has it. `token` names the owner.
    pub async fn lease(&self, account: AccountId, token: &str, held: Duration) -> Result<bool, Failure> {
        let tag = tag(account);
        let key = self.redis.key(&tag, ":lease");
        let command = Command::new(tag, "SET").arg(key).arg(token).arg("NX").arg("PX").arg(millis(held));
        Ok(!matches!(self.redis.ask(command).await?, madang_engine_redis::Value::Nil))
    }

    /// Gives the right back, if it is still this owner's.
    pub async fn release(&self, account: AccountId, token: &str) -> Result<(), Failure> {
        let tag = tag(account);
        let key = self.redis.key(&tag, ":lease");
        self.redis.ask(Command::script(tag, &RELEASE, &[key]).arg(token)).await?;
        Ok(())
    }

    fn keys(&self, account: AccountId) -> (Tag, [String; 2]) {
        let (tag, entry) = entry_key(&self.redis, account);
        let floor = self.redis.key(&tag, ":floor");
        (tag, [entry, floor])
    }
}

/// The key of an account's entry.
pub(crate) fn entry_key(redis: &Redis, account: AccountId) -> (Tag, String) {
    let tag = tag(account);
    let key = redis.key(&tag, ":entry");
    (tag, key)
}

fn tag(account: AccountId) -> Tag {
    Tag::new(format_args!("account:{account}"))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1)
}
