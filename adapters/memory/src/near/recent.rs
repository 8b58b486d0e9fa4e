//! What was heard of lately, whether it is cached or not. A load that was under way meanwhile, or that comes from a model
//! which is not told yet, is joined with it, so a late load never overwrites what is known to be newer.

use std::collections::HashMap;
use std::hash::Hash;

use madang_kernel::Timestamp;

/// How long a change is remembered at least, unless there are too many: longer than a load takes, and than the log needs to
/// bring a change to a model that was not told.
const REMEMBERED_MS: i64 = 5_000;
/// Changes in one of the two halves; past it the older half is forgotten early.
const CHANGES_MAX: usize = 512;

/// Changes of one part of the cache, in two halves: one that grows, and the one before it.
pub(super) struct Recent<K, V> {
    young: Half<K, V>,
    old: Half<K, V>,
}

struct Half<K, V> {
    values: HashMap<K, V>,
    changes: usize,
    /// The number of the first change that may be in it.
    from: u64,
    began: Timestamp,
}

impl<K, V> Half<K, V> {
    fn from(number: u64, began: Timestamp) -> Self {
        Self { values: HashMap::new(), changes: 0, from: number, began }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Recent<K, V> {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { young: Half::from(0, now), old: Half::from(0, now) }
    }

    /// Where the change of this number is to be remembered.
    pub(super) fn remember(&mut self, key: K, number: u64, now: Timestamp) -> &mut V {
        let age_ms = now.as_millis().saturating_sub(self.young.began.as_millis());
        if self.young.changes >= CHANGES_MAX || !(0..REMEMBERED_MS).contains(&age_ms) {
            self.old = std::mem::replace(&mut self.young, Half::from(number, now));
        }
        self.young.changes += 1;
        self.young.values.entry(key).or_default()
    }

    /// What is remembered of a key, the older first.
    pub(super) fn of(&self, key: K) -> impl Iterator<Item = &V> {
        [self.old.values.get(&key), self.young.values.get(&key)].into_iter().flatten()
    }

    /// Whether every change from this number on is remembered: a load that began before may have missed one.
    pub(super) fn reaches(&self, number: u64) -> bool {
        number >= self.old.from
    }

    /// Forgets everything; loads that began before this number are not to be kept.
    pub(super) fn clear(&mut self, number: u64, now: Timestamp) {
        *self = Self { young: Half::from(number, now), old: Half::from(number, now) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + ms)
    }

    #[test]
    fn a_change_is_remembered_for_its_time_and_then_forgotten() {
        let mut recent: Recent<u8, u64> = Recent::new(at(0));
        *recent.remember(1, 1, at(0)) = 11;
        *recent.remember(2, 2, at(REMEMBERED_MS)) = 22;
        assert_eq!(recent.of(1).copied().collect::<Vec<_>>(), [11]);
        assert!(recent.reaches(0) && recent.reaches(1));
        *recent.remember(2, 3, at(2 * REMEMBERED_MS)) = 33;
        assert_eq!(recent.of(1).count(), 0);
        assert_eq!(recent.of(2).copied().collect::<Vec<_>>(), [22, 33]);
        assert!(!recent.reaches(1) && recent.reaches(2), "a load from before may have missed the first change");
    }

    #[test]
    fn a_storm_is_bounded_and_says_what_it_forgot() {
        let mut recent: Recent<u64, u64> = Recent::new(at(0));
        for number in 1..=10_000 {
            *recent.remember(number, number, at(0)) = number;
        }
        assert!(recent.young.values.len() + recent.old.values.len() <= 2 * CHANGES_MAX);
        assert!(!recent.reaches(1) && recent.reaches(10_000 - CHANGES_MAX as u64));
    }

    #[test]
    fn what_began_before_it_was_cleared_is_not_to_be_kept() {
        let mut recent: Recent<u8, u64> = Recent::new(at(0));
        *recent.remember(1, 1, at(0)) = 11;
        recent.clear(2, at(0));
        assert!(recent.of(1).next().is_none() && !recent.reaches(1) && recent.reaches(2));
    }
}
