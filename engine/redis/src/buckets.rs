//! Token buckets that every process shares, for limits on how often somebody may do something.

use std::sync::{Arc, LazyLock};

use madang_kernel::{Clock, StoreError};

use crate::{Command, Failure, Redis, Script, Tag, reply};

/// Longest name of a bucket; what is longer is cut.
const NAME_MAX_BYTES: usize = 128;
/// Fastest a bucket fills, and most that it holds, so that no number in a script is rounded.
const RATE_MAX: f64 = 1e6;
const BURST_MAX: u32 = 1_000_000;
/// Slowest a bucket fills: one token a day. Its key stays until it is full.
const RATE_MIN: f64 = 1.0 / 86_400.0;

static TAKE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/buckets/take.lua")));

/// How a bucket fills.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// Tokens that come in a second.
    pub per_second: f64,
    /// Tokens that it holds at most; a new one is full.
    pub burst: u32,
}

/// What became of taking tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Whether they were there. If not, none was taken.
    pub is_allowed: bool,
    /// Whole tokens that are left.
    pub remaining: u64,
    /// When they will be there, if nobody takes any before; 0 when they were. For more than a bucket holds, never: the time
    /// is then that of a bucket that would hold them.
    pub retry_after_ms: u64,
}

/// Token buckets in Redis, by the server's clock. A bucket that is full again leaves by itself.
#[derive(Clone)]
pub struct RedisBuckets {
    redis: Redis,
    clock: Option<Arc<dyn Clock>>,
}

impl RedisBuckets {
    /// Buckets under the prefix of `redis`.
    pub fn new(redis: Redis) -> Self {
        Self { redis, clock: None }
    }

    /// Buckets that fill by a clock that a test can set.
    pub fn filled_by(redis: Redis, clock: Arc<dyn Clock>) -> Self {
        Self { redis, clock: Some(clock) }
    }

    /// Takes `count` tokens from the bucket of that name, all or none. One script, so two at once never take the same. What
    /// to do while Redis is away (`Unavailable`) is the caller's to decide.
    pub async fn take(&self, name: &str, bucket: Bucket, count: u32) -> Result<Taken, StoreError> {
        Ok(self.try_to_take(name, bucket, count, false).await?.0)
    }

    /// Takes up to `count` tokens, as many as there are. Tells how many those were and, if none, in how many milliseconds
    /// there will be one.
    pub async fn take_up_to(&self, name: &str, bucket: Bucket, count: u32) -> Result<(u32, u64), StoreError> {
        let (taken, tokens) = self.try_to_take(name, bucket, count.max(1), true).await?;
        Ok((tokens, taken.retry_after_ms))
    }

    async fn try_to_take(
        &self,
        name: &str,
        bucket: Bucket,
        count: u32,
        fewer_will_do: bool,
    ) -> Result<(Taken, u32), Failure> {
        // A brace in the name would end the tag early, and two names could meet: the tag is a number of the name instead.
        let name: Vec<u8> = name.bytes().take(NAME_MAX_BYTES).collect();
        let spread = name.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte))) % 1_024;
        let tag = Tag::new(format_args!("t{spread}"));
        let mut key = self.redis.key(&tag, ":").into_bytes();
        key.extend_from_slice(&name);
        let now = self.clock.as_ref().map(|clock| clock.now().as_millis().to_string()).unwrap_or_default();
        let rate = if bucket.per_second.is_nan() { RATE_MIN } else { bucket.per_second.clamp(RATE_MIN, RATE_MAX) };
        let command =
            Command::script(tag, &TAKE, &[key]).arg(count).arg(rate).arg(bucket.burst.clamp(1, BURST_MAX)).arg(now);
        let answer = self.redis.ask(command.arg(u8::from(fewer_will_do))).await?;
        let [is_allowed, remaining, retry_after_ms, tokens] = reply::items(&answer)? else {
            return Err(Failure::reply("a bucket with other fields"));
        };
        let taken = Taken {
            is_allowed: reply::count(is_allowed)? == 1,
            remaining: reply::count(remaining)?,
            retry_after_ms: reply::count(retry_after_ms)?,
        };
        Ok((taken, u32::try_from(reply::count(tokens)?).unwrap_or(u32::MAX)))
    }
}
