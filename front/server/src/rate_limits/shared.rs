//! Buckets that several processes share. A process asks for tokens in portions where a round trip for each request would
//! cost more than what it limits, and decides by its own buckets when nobody answers.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use madang_kernel::StoreError;

use super::Bucket;

/// Sets of slots; a portion may be in any slot of one set.
const SETS: usize = 4_096;
/// Slots of a set. When all are taken, the oldest portion gives way: its owner asks for another.
const SET_SLOTS: usize = 8;
/// A portion that is not used up lapses: who comes back later asks how the bucket stands.
const PORTION_MS: u64 = 5_000;

/// Tokens that came out of a shared bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    /// How many; none when there was not one.
    pub tokens: u32,
    /// When there will be one, if there was none.
    pub retry_after: Duration,
}

/// Buckets outside of the process.
#[async_trait]
pub trait SharedBuckets: Send + Sync {
    /// Takes up to `count` tokens from the bucket of that name.
    async fn take_up_to(&self, name: &str, bucket: Bucket, count: u32) -> Result<Portion, StoreError>;
}

/// Tokens that were fetched and are not used yet, in a table of fixed size.
pub(super) struct Portions {
    sets: Vec<Mutex<[Slot; SET_SLOTS]>>,
    started: Instant,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    tokens: u32,
    until_ms: u64,
}

impl Default for Portions {
    fn default() -> Self {
        Self { sets: (0..SETS).map(|_| Mutex::default()).collect(), started: Instant::now() }
    }
}

impl Portions {
    /// Uses a token, if there is one.
    pub(super) fn spend(&self, key: u64) -> bool {
        self.spend_at(key, self.now_ms())
    }

    /// Keeps tokens for those who come next.
    pub(super) fn keep(&self, key: u64, tokens: u32) {
        self.keep_at(key, tokens, self.now_ms());
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn spend_at(&self, key: u64, now_ms: u64) -> bool {
        let mut slots = self.set(key).lock().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = slots.iter_mut().find(|slot| slot.key == key && slot.until_ms > now_ms) else { return false };
        if slot.tokens == 0 {
            return false;
        }
        slot.tokens -= 1;
        true
    }

    fn keep_at(&self, key: u64, tokens: u32, now_ms: u64) {
        let mut slots = self.set(key).lock().unwrap_or_else(PoisonError::into_inner);
        let index = slots.iter().position(|slot| slot.key == key);
        let index = index.or_else(|| (0..SET_SLOTS).min_by_key(|index| slots[*index].until_ms)).unwrap_or(0);
        let slot = &mut slots[index];
        let left = if slot.key == key && slot.until_ms > now_ms { slot.tokens } else { 0 };
        *slot = Slot { key, tokens: left.saturating_add(tokens), until_ms: now_ms.saturating_add(PORTION_MS) };
    }

    fn set(&self, key: u64) -> &Mutex<[Slot; SET_SLOTS]> {
        // Other bits than tell the slots of a set apart.
        &self.sets[usize::try_from(key >> 32).unwrap_or_default() % SETS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portion_is_spent_once_and_lapses() {
        let portions = Portions::default();
        let spent = |now_ms| (0..9).filter(|_| portions.spend_at(7, now_ms)).count();
        assert_eq!(spent(0), 0);
        portions.keep_at(7, 3, 0);
        portions.keep_at(7, 1, 0);
        assert_eq!((spent(1), spent(2)), (4, 0));
        portions.keep_at(7, 3, 10);
        assert_eq!(spent(10 + PORTION_MS), 0);
    }

    #[test]
    fn the_table_does_not_grow() {
        let portions = Portions::default();
        for key in 1..100 {
            // All of one set: their upper half is the same.
            portions.keep_at(key, 1, key);
        }
        assert!(portions.spend_at(99, 100) && !portions.spend_at(1, 100));
    }
}
