//! Issues ids that never repeat: not across threads, restarts, pauses or a clock that steps back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::id::{ID_EPOCH_MS, Id, SEQUENCE_BITS, compose};
use crate::{Clock, NodeLease, SHARDS, ShardId};

/// The lease of the node number has run out; ids are refused until it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lease of this process's node number has ended")]
pub struct LeaseEnded;

/// The generator of one process. Ids of one shard strictly increase.
///
/// Each shard has its own counter of `milliseconds << 8 | sequence`. A full millisecond is followed by the next one,
/// borrowed from the future; a clock that steps back changes nothing, because a counter only grows. The lease bounds
/// both: no id carries a time at or past its end, and the next holder of the number starts there.
pub struct IdGenerator {
    clock: Arc<dyn Clock>,
    lease: RwLock<NodeLease>,
    last: [AtomicU64; SHARDS],
}

impl IdGenerator {
    /// A generator that issues ids within `lease`.
    pub fn new(clock: Arc<dyn Clock>, lease: NodeLease) -> Self {
        Self { clock, lease: RwLock::new(lease), last: [const { AtomicU64::new(0) }; SHARDS] }
    }

    /// Issues the next id of `shard`.
    pub fn next<T: Id>(&self, shard: ShardId) -> Result<T, LeaseEnded> {
        let lease = self.lease();
        let now = id_time(self.clock.now().as_millis());
        let floor = now.max(id_time(lease.from_ms)) << SEQUENCE_BITS;
        let end = id_time(lease.until_ms);
        let counter = &self.last[usize::from(shard.number())];
        let mut last = counter.load(Ordering::Relaxed);
        loop {
            let next = floor.max(last + 1);
            let time = next >> SEQUENCE_BITS;
            if time >= end {
                return Err(LeaseEnded);
            }
            match counter.compare_exchange_weak(last, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let sequence = next & ((1 << SEQUENCE_BITS) - 1);
                    return Ok(T::from_raw(compose(time, shard, lease.node, sequence)));
                }
                Err(current) => last = current,
            }
        }
    }

    /// The lease in force.
    pub fn lease(&self) -> NodeLease {
        *self.lease.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a renewed lease, or one of another number, in force.
    pub fn renew(&self, lease: NodeLease) {
        *self.lease.write().unwrap_or_else(PoisonError::into_inner) = lease;
    }

    /// The first millisecond (Unix time) that no issued id has reached: a holder that leaves gives the rest back.
    pub fn unused_from_ms(&self) -> i64 {
        let greatest = self.last.iter().map(|last| last.load(Ordering::Relaxed)).max().unwrap_or(0);
        let used = (greatest >> SEQUENCE_BITS).cast_signed() + ID_EPOCH_MS + 1;
        used.max(self.lease().from_ms)
    }
}

fn id_time(unix_ms: i64) -> u64 {
    (unix_ms - ID_EPOCH_MS).max(0).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{EventId, ManualClock, NodeId, Timestamp};

    const START_MS: i64 = ID_EPOCH_MS + 1_000_000;

    fn generator(clock: &Arc<ManualClock>, from_ms: i64, until_ms: i64) -> IdGenerator {
        IdGenerator::new(clock.clone(), NodeLease { node: NodeId(3), from_ms, until_ms })
    }

    fn shard(number: u8) -> ShardId {
        ShardId::new(number).unwrap()
    }

    #[test]
    fn eight_threads_never_share_an_id() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START_MS)));
        let ids = generator(&clock, START_MS, START_MS + 1_000_000);
        let mut seen = HashSet::new();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|worker| {
                    let ids = &ids;
                    scope.spawn(move || {
                        (0..20_000).map(|_| ids.next::<EventId>(shard(worker % 3)).unwrap()).collect::<Vec<_>>()
                    })
                })
                .collect();
            for worker in workers {
                let issued = worker.join().unwrap();
                assert!(issued.is_sorted(), "one thread sees its shard's ids grow");
                for id in issued {
                    assert!(seen.insert(id), "{id} twice");
                }
            }
        });
        assert_eq!(seen.len(), 160_000);
    }

    #[test]
    fn a_clock_that_steps_back_changes_nothing() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START_MS)));
        let ids = generator(&clock, START_MS, START_MS + 10_000);
        let before: EventId = ids.next(shard(1)).unwrap();
        clock.set(Timestamp::from_millis(START_MS - 3_600_000));
        let after: EventId = ids.next(shard(1)).unwrap();
        assert!(after > before);
    }

    #[test]
    fn a_full_millisecond_borrows_the_next() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START_MS)));
        let ids = generator(&clock, START_MS, START_MS + 10_000);
        let issued: Vec<EventId> = (0..1_000).map(|_| ids.next(shard(0)).unwrap()).collect();
        assert!(issued.is_sorted_by(|a, b| a < b));
        assert_eq!(issued.last().unwrap().issued_at().as_millis(), START_MS + 3);
    }

    #[test]
    fn no_id_is_issued_at_or_past_the_end_of_the_lease() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START_MS)));
        let ids = generator(&clock, START_MS, START_MS + 1);
        let issued = (0..2_000).filter(|_| ids.next::<EventId>(shard(0)).is_ok()).count();
        assert_eq!(issued, 256, "one millisecond's worth, then refusal");
        clock.set(Timestamp::from_millis(START_MS + 60_000));
        assert_eq!(ids.next::<EventId>(shard(7)), Err(LeaseEnded), "a paused process wakes up past its lease");
    }

    #[test]
    fn the_next_holder_starts_above_everything_issued_before() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START_MS)));
        let first = generator(&clock, START_MS, START_MS + 10_000);
        let last: EventId = (0..5_000).map(|_| first.next(shard(9)).unwrap()).last().unwrap();
        // Crash: the lease was never given back, and the clock is wrong by an hour after the restart.
        clock.set(Timestamp::from_millis(START_MS - 3_600_000));
        let second = generator(&clock, first.lease().until_ms, START_MS + 60_000);
        assert!(second.next::<EventId>(shard(9)).unwrap() > last);
        // Graceful: what was not used is given back, and still nothing repeats.
        let third = generator(&clock, first.unused_from_ms(), START_MS + 60_000);
        assert!(third.next::<EventId>(shard(9)).unwrap() > last);
    }
}
