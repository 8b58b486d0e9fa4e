//! Waiting longer after each failure, never all at once: exponential back-off with jitter, and pauses built on it.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// How long to wait after the first failure, and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure, in milliseconds.
    pub base_ms: u64,
    /// However often it failed, in milliseconds.
    pub cap_ms: u64,
}

impl Backoff {
    /// The wait after failure number `failures` (from 1): doubled each time up to the cap, and then a random half taken
    /// off, so that processes that failed together do not come back together.
    pub fn delay_ms(&self, failures: u32, chance: &mut Chance) -> u64 {
        let doublings = failures.saturating_sub(1).min(32);
        let full = self.base_ms.saturating_mul(1 << doublings).min(self.cap_ms).max(1);
        full - chance.below(full / 2 + 1)
    }
}

/// Randomness that is passed in: the same seed gives the same run.
#[derive(Debug, Clone)]
pub struct Chance(SmallRng);

impl Chance {
    /// Chance from a seed.
    pub fn seeded(seed: u64) -> Self {
        Self(SmallRng::seed_from_u64(seed))
    }

    /// A number below `bound`; 0 when there is none.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.0.random_range(0..bound) }
    }
}

/// A part that is away: how often it failed in a row, and when it is worth asking again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pause {
    failures: u32,
    until_ms: Option<u64>,
}

impl Pause {
    /// The part failed again.
    pub(crate) fn begin(&mut self, now_ms: u64, backoff: &Backoff, chance: &mut Chance) {
        self.failures = self.failures.saturating_add(1);
        self.until_ms = Some(now_ms + backoff.delay_ms(self.failures, chance));
    }

    /// The part answered.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Whether the part is to be left alone at `now_ms`.
    pub(crate) fn holds(&self, now_ms: u64) -> bool {
        self.until_ms.is_some_and(|until| now_ms < until)
    }

    /// Lets the part be asked again once its time has come; it counts as away until it answers.
    pub(crate) fn pass(&mut self, now_ms: u64) {
        if !self.holds(now_ms) {
            self.until_ms = None;
        }
    }

    /// When it is worth asking again, as long as that lies ahead.
    pub(crate) fn until_ms(&self) -> Option<u64> {
        self.until_ms
    }

    /// Whether the part has not answered since it failed.
    pub(crate) fn is_away(&self) -> bool {
        self.failures > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_delay_lies_between_half_and_all_of_its_step(failures in 1u32..200, seed: u64, base in 1u64..10_000) {
            let backoff = Backoff { base_ms: base, cap_ms: 30_000 };
            let full = base.saturating_mul(1 << (failures - 1).min(32)).min(30_000);
            let delay = backoff.delay_ms(failures, &mut Chance::seeded(seed));
            prop_assert!(delay >= full / 2 && delay <= full && delay > 0 || full == 1);
        }
    }

    #[test]
    fn a_pause_holds_until_its_moment_and_ends_when_the_part_answers() {
        let (backoff, mut chance) = (Backoff { base_ms: 100, cap_ms: 100 }, Chance::seeded(1));
        let mut pause = Pause::default();
        assert!(!pause.holds(0));
        pause.begin(1_000, &backoff, &mut chance);
        assert!(pause.holds(1_049) && !pause.holds(1_100));
        pause.end();
        assert!(!pause.holds(1_000));
    }
}
