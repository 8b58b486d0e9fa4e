//! Batch pacing: whether a batch waits for more calls before its COMMIT, how long, and how many it takes.

use std::time::Duration;

/// A batch that is smaller than the last ones waits for more while they keep coming, each time at most half as long as a
/// COMMIT takes, and no longer than this.
const WINDOW_MAX_US: u64 = 500;
/// With so many callers, two batches take turns; fewer share a COMMIT.
const SPLIT_FROM: usize = 32;

/// How many callers write at the moment, and how long a COMMIT takes: whether it pays to wait for more of them. One who
/// writes alone never waits. Of many, a batch waits for half: the other half sends its next calls while this one commits,
/// so neither the disk nor the processor idles, and nobody who comes a moment late needs a COMMIT of their own.
#[derive(Default)]
pub(crate) struct BatchPacing {
    callers: usize,
    commit: Duration,
}

impl BatchPacing {
    /// `calls` were in one batch, and `waiting` came meanwhile.
    pub(crate) fn saw(&mut self, calls: usize, waiting: usize) {
        // Forgets slowly: not everybody is always seen.
        self.callers = (calls + waiting).max(self.callers - self.callers.div_ceil(16));
    }

    /// A COMMIT took so long.
    pub(crate) fn committed_in(&mut self, took: Duration) {
        self.commit = took;
    }

    /// How many calls a batch waits for.
    pub(crate) fn share(&self) -> usize {
        self.callers.div_ceil(2)
    }

    /// How many calls a batch takes at most.
    pub(crate) fn batch_max(&self) -> usize {
        if self.callers >= SPLIT_FROM { self.share() } else { usize::MAX }
    }

    /// The batch window: how long a batch waits for the next of them.
    pub(crate) fn window(&self) -> Duration {
        (self.commit / 2).min(Duration::from_micros(WINDOW_MAX_US))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_writes_alone_never_waits() {
        let mut pacing = BatchPacing::default();
        for _ in 0..10 {
            pacing.saw(1, 0);
            assert_eq!(pacing.share(), 1);
        }
    }

    #[test]
    fn two_halves_of_many_callers_take_turns() {
        let mut pacing = BatchPacing::default();
        for _ in 0..100 {
            pacing.saw(32, 32);
            assert_eq!((pacing.share(), pacing.batch_max()), (32, 32));
        }
    }

    #[test]
    fn a_few_share_one_commit() {
        let mut pacing = BatchPacing::default();
        pacing.saw(8, 0);
        assert_eq!(pacing.batch_max(), usize::MAX);
    }

    #[test]
    fn callers_that_left_are_forgotten() {
        let mut pacing = BatchPacing::default();
        pacing.saw(256, 256);
        let batches = (1..).find(|_| {
            pacing.saw(1, 0);
            pacing.share() == 1
        });
        assert!(batches.unwrap() < 100);
    }

    #[test]
    fn a_batch_waits_no_longer_than_half_a_commit() {
        let mut pacing = BatchPacing::default();
        pacing.committed_in(Duration::from_micros(300));
        assert_eq!(pacing.window(), Duration::from_micros(150));
        pacing.committed_in(Duration::from_secs(2));
        assert_eq!(pacing.window(), Duration::from_micros(WINDOW_MAX_US));
    }
}
