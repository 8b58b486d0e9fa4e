//! The crowd before the writer: whether it pays to wait for more calls before a COMMIT.

use std::time::Duration;

/// A batch that is smaller than the last ones waits for more while they keep coming, each time at most half as long as a
/// COMMIT takes, and no longer than this.
const LINGER_MAX_US: u64 = 500;
/// A crowd of this size is worth two batches that take turns; a smaller one shares a COMMIT.
const SPLIT_FROM: usize = 32;

/// How many people write at the moment, and how long a COMMIT takes: whether it pays to wait for more of them. One who
/// writes alone never waits. Of many, a batch waits for half: the other half sends its next calls while this one commits,
/// so neither the disk nor the processor idles, and nobody who comes a moment late needs a COMMIT of their own.
#[derive(Default)]
pub(crate) struct Crowd {
    size: usize,
    commit: Duration,
}

impl Crowd {
    /// `calls` were in one batch, and `waiting` came meanwhile.
    pub(crate) fn saw(&mut self, calls: usize, waiting: usize) {
        // Forgets slowly: not everybody is always seen.
        self.size = (calls + waiting).max(self.size - self.size.div_ceil(16));
    }

    /// A COMMIT took so long.
    pub(crate) fn committed_in(&mut self, took: Duration) {
        self.commit = took;
    }

    /// How many calls a batch waits for.
    pub(crate) fn share(&self) -> usize {
        self.size.div_ceil(2)
    }

    /// How many calls a batch takes at most.
    pub(crate) fn batch_max(&self) -> usize {
        if self.size >= SPLIT_FROM { self.share() } else { usize::MAX }
    }

    /// How long a batch waits for the next of them.
    pub(crate) fn linger(&self) -> Duration {
        (self.commit / 2).min(Duration::from_micros(LINGER_MAX_US))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_writes_alone_never_waits() {
        let mut crowd = Crowd::default();
        for _ in 0..10 {
            crowd.saw(1, 0);
            assert_eq!(crowd.share(), 1);
        }
    }

    #[test]
    fn the_halves_of_a_crowd_take_turns() {
        let mut crowd = Crowd::default();
        for _ in 0..100 {
            crowd.saw(32, 32);
            assert_eq!((crowd.share(), crowd.batch_max()), (32, 32));
        }
    }

    #[test]
    fn a_few_share_one_commit() {
        let mut crowd = Crowd::default();
        crowd.saw(8, 0);
        assert_eq!(crowd.batch_max(), usize::MAX);
    }

    #[test]
    fn a_crowd_that_left_is_forgotten() {
        let mut crowd = Crowd::default();
        crowd.saw(256, 256);
        let batches = (1..).find(|_| {
            crowd.saw(1, 0);
            crowd.share() == 1
        });
        assert!(batches.unwrap() < 100);
    }

    #[test]
    fn nobody_waits_longer_than_half_a_commit() {
        let mut crowd = Crowd::default();
        crowd.committed_in(Duration::from_micros(300));
        assert_eq!(crowd.linger(), Duration::from_micros(150));
        crowd.committed_in(Duration::from_secs(2));
        assert_eq!(crowd.linger(), Duration::from_micros(LINGER_MAX_US));
    }
}
