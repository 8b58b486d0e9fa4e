//! The last batch of each lane whose COMMIT was answered. A replica that becomes the primary must have them all: one that lacks
//! a batch lost what callers were told to be there.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lanes that are remembered, those that committed last. A process has a few on each server, and a new one with each connection.
const LANES_MAX: usize = 32;
/// For how long: far less than the rows of lanes that are silent stay in the database.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

/// A lane, and its last batch that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneBatch {
    pub(crate) lane_id: u64,
    pub(crate) number: u64,
}

/// What one process knows to be committed on one server.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    lanes: Mutex<VecDeque<(Instant, LaneBatch)>>,
}

impl Acknowledged {
    /// Notes a COMMIT that was answered.
    pub(crate) fn note(&self, lane_id: u64, number: u64) {
        self.note_at(LaneBatch { lane_id, number }, Instant::now());
    }

    /// The batches that a primary must have.
    pub(crate) fn batches(&self) -> Vec<LaneBatch> {
        self.batches_at(Instant::now())
    }

    fn note_at(&self, batch: LaneBatch, now: Instant) {
        let mut lanes = self.lock();
        match lanes.iter_mut().find(|(_, known)| known.lane_id == batch.lane_id) {
            Some(known) => *known = (now, batch),
            None => lanes.push_back((now, batch)),
        }
        if lanes.len() > LANES_MAX
            && let Some(oldest) = (0..lanes.len()).min_by_key(|index| lanes[*index].0)
        {
            lanes.remove(oldest);
        }
    }

    fn batches_at(&self, now: Instant) -> Vec<LaneBatch> {
        let lanes = self.lock();
        let recent = lanes.iter().filter(|(at, _)| now.saturating_duration_since(*at) < REMEMBERED);
        recent.map(|(_, batch)| *batch).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, LaneBatch)>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_batch_of_each_lane_is_remembered_for_a_while() {
        let (known, now) = (Acknowledged::default(), Instant::now());
        for number in 1..=3 {
            known.note_at(LaneBatch { lane_id: 7, number }, now);
        }
        known.note_at(LaneBatch { lane_id: 8, number: 1 }, now + REMEMBERED);
        assert_eq!(known.batches_at(now), [LaneBatch { lane_id: 7, number: 3 }, LaneBatch { lane_id: 8, number: 1 }]);
        assert_eq!(known.batches_at(now + REMEMBERED), [LaneBatch { lane_id: 8, number: 1 }]);
    }

    #[test]
    fn those_that_committed_last_are_remembered() {
        let (known, now) = (Acknowledged::default(), Instant::now());
        for lane_id in 0..2 * LANES_MAX as u64 {
            known.note_at(LaneBatch { lane_id, number: 1 }, now + Duration::from_millis(lane_id));
        }
        let lanes: Vec<u64> = known.batches_at(now).iter().map(|batch| batch.lane_id).collect();
        assert_eq!(lanes, (LANES_MAX as u64..2 * LANES_MAX as u64).collect::<Vec<_>>());
    }
}
