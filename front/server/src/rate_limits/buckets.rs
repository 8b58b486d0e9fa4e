//! Token buckets in a table of fixed size: whatever addresses come, it takes two megabytes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Sets of slots; a bucket may be in any slot of one set.
const SETS: usize = 16_384;
/// Slots of a set. When all are taken, the one that is fullest gives way: forgetting a full bucket changes nothing.
const SET_SLOTS: usize = 8;

/// How a bucket fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Time in which one token comes, in microseconds.
    token_us: u64,
    /// Tokens that it holds at most; a new one is full.
    burst: u32,
}

impl Bucket {
    /// So many tokens a second, and at most `burst` saved up.
    pub const fn per_second(tokens: u32, burst: u32) -> Self {
        Self::every(1_000_000, tokens, burst)
    }

    /// So many tokens an hour, and at most `burst` saved up.
    pub const fn per_hour(tokens: u32, burst: u32) -> Self {
        Self::every(3_600_000_000, tokens, burst)
    }

    const fn every(span_us: u64, tokens: u32, burst: u32) -> Self {
        let tokens = if tokens == 0 { 1 } else { tokens };
        let burst = if burst == 0 { 1 } else { burst };
        Self { token_us: span_us / tokens as u64, burst }
    }

    /// Tokens that it holds at most.
    pub fn burst(self) -> u32 {
        self.burst
    }

    /// Tokens that come in a second.
    pub fn tokens_per_second(self) -> f64 {
        1e6 / self.token_us.max(1) as f64
    }

    /// Time in which an empty one is full again.
    pub fn refill(self) -> Duration {
        Duration::from_micros(self.token_us.saturating_mul(u64::from(self.burst)))
    }
}

/// What became of taking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Whether it was there.
    pub is_allowed: bool,
    /// When it will be there; zero when it was.
    pub retry_after: Duration,
}

/// Where tokens are taken from. Answers at once; what takes a round trip is in `shared.rs`.
pub trait Buckets: Send + Sync {
    /// Takes one token from the bucket of this key.
    fn take(&self, key: u64, bucket: Bucket) -> Taken;
}

/// Buckets in the memory of one process.
pub struct MemoryBuckets {
    sets: Vec<Mutex<[Slot; SET_SLOTS]>>,
    started: Instant,
}

/// A bucket as the moment at which it will be full (the generic cell rate algorithm), in microseconds since the start.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    full_at_us: u64,
}

impl Default for MemoryBuckets {
    fn default() -> Self {
        let sets = (0..SETS).map(|_| Mutex::default()).collect();
        Self { sets, started: Instant::now() }
    }
}

impl Buckets for MemoryBuckets {
    fn take(&self, key: u64, bucket: Bucket) -> Taken {
        let now_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.take_at(key, bucket, now_us)
    }
}

impl MemoryBuckets {
    fn take_at(&self, key: u64, bucket: Bucket, now_us: u64) -> Taken {
        // The set is chosen by other bits than tell the slots of it apart.
        let set = &self.sets[usize::try_from(key >> 32).unwrap_or_default() % SETS];
        let mut slots = set.lock().unwrap_or_else(PoisonError::into_inner);
        let index = slots.iter().position(|slot| slot.key == key);
        let index = index.or_else(|| (0..SET_SLOTS).min_by_key(|index| slots[*index].full_at_us)).unwrap_or(0);
        let slot = &mut slots[index];
        if slot.key != key {
            *slot = Slot { key, full_at_us: 0 };
        }
        let full_at_us = slot.full_at_us.max(now_us).saturating_add(bucket.token_us);
        let latest_us = now_us.saturating_add(bucket.token_us.saturating_mul(u64::from(bucket.burst)));
        if full_at_us > latest_us {
            return Taken { is_allowed: false, retry_after: Duration::from_micros(full_at_us - latest_us) };
        }
        slot.full_at_us = full_at_us;
        Taken { is_allowed: true, retry_after: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let buckets = MemoryBuckets::default();
        let bucket = Bucket::per_second(10, 3);
        let allowed = |now_ms: u64| buckets.take_at(7, bucket, now_ms * 1_000).is_allowed;
        assert!(allowed(0) && allowed(0) && allowed(0) && !allowed(0));
        assert!(!allowed(99) && allowed(100) && !allowed(100));
        assert!(allowed(1_000) && allowed(1_000) && allowed(1_000) && !allowed(1_000), "no more than it holds");
        let refused = buckets.take_at(7, bucket, 1_000_000);
        assert_eq!(refused.retry_after, Duration::from_millis(100));
    }

    #[test]
    fn the_table_does_not_grow_and_forgets_full_buckets_first() {
        let buckets = MemoryBuckets::default();
        let (busy, idle) = (Bucket::per_hour(1, 1), Bucket::per_second(1_000, 1));
        assert!(buckets.take_at(1, busy, 0).is_allowed);
        for key in 2..100_000 {
            // All of one set: their upper half is the same.
            buckets.take_at(key, idle, 0);
        }
        assert!(!buckets.take_at(1, busy, 1_000).is_allowed, "an empty bucket was forgotten before full ones");
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_burst_and_rate_allow(
            (tokens, burst) in (1_u32..50, 1_u32..20),
            mut moments_ms in prop::collection::vec(0_u64..10_000, 1..200),
        ) {
            moments_ms.sort_unstable();
            let (buckets, bucket) = (MemoryBuckets::default(), Bucket::per_second(tokens, burst));
            let allowed = moments_ms.iter().filter(|ms| buckets.take_at(9, bucket, **ms * 1_000).is_allowed).count();
            let span_ms = moments_ms.last().unwrap() - moments_ms[0];
            let most = u64::from(burst) + span_ms * u64::from(tokens) / 1_000 + 1;
            prop_assert!(allowed as u64 <= most, "{allowed} of at most {most}");
        }
    }
}
