//! Leases of node numbers: whatever happens, no id time of a number is given to two holders.

use std::sync::Arc;

use madang_kernel::{Clock, ManualClock, NodeLease, NodeLeases};

/// A store of leases with nothing in it.
#[async_trait::async_trait]
pub trait NodeLeasesHarness: Send + Sync + Sized {
    /// A fresh store.
    async fn fresh() -> Self;
    /// The store.
    fn leases(&self) -> &dyn NodeLeases;
    /// The clock that the store reads.
    fn clock(&self) -> &Arc<ManualClock>;
}

const TTL_MS: i64 = 10_000;

fn overlap(one: &NodeLease, other: &NodeLease) -> bool {
    one.node == other.node && one.from_ms < other.until_ms && other.from_ms < one.until_ms
}

suite! { $ node_leases_suite, node_leases, NodeLeasesHarness;
    /// A lease begins now at the earliest and lasts as long as asked.
    async fn a_first_lease_begins_now(harness) {
        let now = harness.clock().now().as_millis();
        let lease = harness.leases().acquire(TTL_MS).await.unwrap();
        assert_eq!((lease.from_ms, lease.until_ms), (now, now + TTL_MS));
    }

    /// Two holders never share a number and a time, also when the clock has not moved.
    async fn leases_never_overlap(harness) {
        let mut leases = Vec::new();
        for _ in 0..20 {
            leases.push(harness.leases().acquire(TTL_MS).await.unwrap());
        }
        for (index, lease) in leases.iter().enumerate() {
            assert!(leases[index + 1..].iter().all(|other| !overlap(lease, other)), "{leases:?}");
        }
    }

    /// Nor when the clock steps back between them.
    async fn a_clock_that_steps_back_changes_nothing(harness) {
        let first = harness.leases().acquire(TTL_MS).await.unwrap();
        harness.clock().set(madang_kernel::Timestamp::from_millis(first.from_ms - 3_600_000));
        let second = harness.leases().acquire(TTL_MS).await.unwrap();
        assert!(!overlap(&first, &second), "{first:?} {second:?}");
    }

    /// A renewed lease keeps its number and its beginning and ends later.
    async fn a_lease_is_renewed_from_now(harness) {
        let lease = harness.leases().acquire(TTL_MS).await.unwrap();
        harness.clock().advance(std::time::Duration::from_millis(4_000));
        let renewed = harness.leases().renew(lease, TTL_MS).await.unwrap().unwrap();
        assert_eq!((renewed.node, renewed.from_ms), (lease.node, lease.from_ms));
        assert_eq!(renewed.until_ms, harness.clock().now().as_millis() + TTL_MS);
    }

    /// A renewal never takes back time that ids may already carry.
    async fn a_renewal_never_shortens(harness) {
        let lease = harness.leases().acquire(TTL_MS).await.unwrap();
        let renewed = harness.leases().renew(lease, 1).await.unwrap().unwrap();
        assert_eq!(renewed.until_ms, lease.until_ms);
    }

    /// What a holder gave back starts where its ids ended.
    async fn a_released_lease_starts_above_its_ids(harness) {
        let lease = harness.leases().acquire(TTL_MS).await.unwrap();
        harness.leases().release(lease, lease.from_ms + 7).await.unwrap();
        let next = harness.leases().acquire(TTL_MS).await.unwrap();
        assert!(next.node != lease.node || next.from_ms == lease.from_ms + 7, "{lease:?} {next:?}");
    }

    /// A process that slept until another took its number gets nothing.
    async fn a_lease_taken_by_another_is_not_renewed(harness) {
        let asleep = harness.leases().acquire(TTL_MS).await.unwrap();
        harness.leases().release(asleep, asleep.from_ms + 1).await.unwrap();
        let awake = harness.leases().acquire(TTL_MS).await.unwrap();
        assert_eq!(harness.leases().renew(asleep, TTL_MS).await.unwrap(), None);
        harness.leases().release(asleep, asleep.from_ms).await.unwrap();
        assert!(harness.leases().renew(awake, TTL_MS).await.unwrap().is_some());
    }
}
