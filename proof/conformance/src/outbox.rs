//! The outbox: what is unsent is found by its state, attempts are counted at the claim, a parked key stops nobody else.

use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{Clock as _, EventId, Id, ManualClock, ShardId};
use madang_messaging::{Claim, DeadLetters, Failed, Message, Outbox, OutboxBacklog, OutboxRow, header};

use crate::sample::{TOPIC, message, message_of, numbers};

/// An outbox with nothing in it.
#[async_trait::async_trait]
pub trait OutboxHarness: Send + Sync + Sized {
    /// A fresh outbox.
    async fn fresh() -> Self;
    /// The outbox.
    fn outbox(&self) -> &dyn Outbox;
    /// Where buried rows are found.
    fn dead_letters(&self) -> &dyn DeadLetters;
    /// The clock that the store reads.
    fn clock(&self) -> &Arc<ManualClock>;
    /// Inserts messages as a store does, in one transaction.
    async fn insert(&self, messages: &[Message]);
}

fn every_shard(limit: usize) -> Claim {
    Claim { shards: ShardId::all().collect(), min_age: Duration::ZERO, limit }
}

fn claimed(rows: &[OutboxRow]) -> Vec<i64> {
    numbers(rows.iter().map(|row| &row.message))
}

fn ids(raw: &[i64]) -> Vec<EventId> {
    raw.iter().copied().map(EventId::from_raw).collect()
}

fn failed(number: i64, park_for_ms: u64) -> Failed {
    let park_for = Duration::from_millis(park_for_ms);
    Failed { event_id: EventId::from_raw(number), park_for, reason: "too large".to_owned() }
}

suite! { $ outbox_suite, outbox, OutboxHarness;
    /// Rows come back as they were inserted, oldest first.
    async fn rows_are_claimed_oldest_first(harness) {
        let sent: Vec<_> = [5, 3, 9, 1].into_iter().map(|number| message(number, &number.to_string())).collect();
        harness.insert(&sent).await;
        let rows = harness.outbox().claim(every_shard(10)).await.unwrap();
        assert_eq!(rows.into_iter().map(|row| row.message).collect::<Vec<_>>(), sent);
    }

    /// Only rows of the claimed shards come, and no more than asked.
    async fn a_claim_keeps_to_its_shards_and_limit(harness) {
        let sent: Vec<_> = (0..64).map(|shard| message_of(shard, i64::from(shard) + 1, &shard.to_string())).collect();
        harness.insert(&sent).await;
        let shards: Vec<_> = [7, 8, 9].into_iter().map(|number| ShardId::new(number).unwrap()).collect();
        let claim = Claim { shards, min_age: Duration::ZERO, limit: 10 };
        let mut three = claimed(&harness.outbox().claim(claim.clone()).await.unwrap());
        three.sort_unstable();
        assert_eq!(three, [8, 9, 10]);
        assert_eq!(harness.outbox().claim(Claim { limit: 2, ..claim.clone() }).await.unwrap().len(), 2);
        assert!(harness.outbox().claim(Claim { shards: Vec::new(), ..claim }).await.unwrap().is_empty());
    }

    /// A long backlog in one shard keeps no other shard waiting for ever.
    async fn no_shard_waits_for_another(harness) {
        harness.insert(&(1..=100).map(|number| message_of(1, number, &number.to_string())).collect::<Vec<_>>()).await;
        harness.insert(&[message_of(2, 1_000, "other")]).await;
        let shards: Vec<_> = [1, 2].into_iter().map(|number| ShardId::new(number).unwrap()).collect();
        for _ in 0..4 {
            let claim = Claim { shards: shards.clone(), min_age: Duration::ZERO, limit: 5 };
            if claimed(&harness.outbox().claim(claim).await.unwrap()).contains(&1_000) {
                return;
            }
        }
        panic!("four claims, and the other shard's row was in none of them");
    }

    /// Rows that are still on their way by direct hand-over are left alone.
    async fn young_rows_are_left_alone(harness) {
        harness.insert(&[message(1, "a")]).await;
        harness.clock().advance(Duration::from_secs(10));
        harness.insert(&[message(2, "b")]).await;
        let old = Claim { min_age: Duration::from_secs(10), ..every_shard(10) };
        assert_eq!(claimed(&harness.outbox().claim(old).await.unwrap()), [1]);
    }

    /// A row that commits late, with a smaller id than those already sent, is still found.
    async fn a_row_that_commits_late_is_found(harness) {
        harness.insert(&[message(100, "a")]).await;
        let rows = claimed(&harness.outbox().claim(every_shard(10)).await.unwrap());
        harness.outbox().delete(&ids(&rows)).await.unwrap();
        harness.insert(&[message(50, "b")]).await;
        assert_eq!(claimed(&harness.outbox().claim(every_shard(10)).await.unwrap()), [50]);
    }

    /// The claim counts the attempt, so that a row that kills its relay is counted too; a release takes it back.
    async fn a_claim_counts_and_a_release_takes_back(harness) {
        harness.insert(&[message(1, "a")]).await;
        let attempts = |rows: Vec<OutboxRow>| rows[0].attempts;
        assert_eq!(attempts(harness.outbox().claim(every_shard(10)).await.unwrap()), 1);
        assert_eq!(attempts(harness.outbox().claim(every_shard(10)).await.unwrap()), 2);
        harness.outbox().release(&ids(&[1])).await.unwrap();
        assert_eq!(attempts(harness.outbox().claim(every_shard(10)).await.unwrap()), 2);
        for _ in 0..9 {
            harness.outbox().release(&ids(&[1])).await.unwrap();
        }
        assert_eq!(attempts(harness.outbox().claim(every_shard(10)).await.unwrap()), 1);
    }

    /// Deleted rows are gone, and deleting them again is no error.
    async fn deleted_rows_are_gone(harness) {
        harness.insert(&(1..=5).map(|number| message(number, "a")).collect::<Vec<_>>()).await;
        for _ in 0..2 {
            harness.outbox().delete(&ids(&[1, 2, 4])).await.unwrap();
        }
        harness.outbox().delete(&[]).await.unwrap();
        assert_eq!(claimed(&harness.outbox().claim(every_shard(10)).await.unwrap()), [3, 5]);
    }

    /// A parked key waits with all its rows, and stops nobody else.
    async fn a_parked_key_stops_nobody_else(harness) {
        harness.insert(&[message(1, "sick"), message(2, "well"), message(3, "sick")]).await;
        harness.outbox().park(&[failed(1, 1_000)]).await.unwrap();
        harness.insert(&[message(4, "sick"), message(5, "well")]).await;
        assert_eq!(claimed(&harness.outbox().claim(every_shard(10)).await.unwrap()), [2, 5]);
        harness.clock().advance(Duration::from_millis(1_001));
        assert_eq!(claimed(&harness.outbox().claim(every_shard(10)).await.unwrap()), [1, 2, 3, 4, 5]);
    }

    /// Parking a row that was sent meanwhile is no error.
    async fn parking_what_is_gone_is_no_error(harness) {
        harness.outbox().park(&[failed(404, 1_000)]).await.unwrap();
        assert_eq!(harness.outbox().backlog().await.unwrap(), OutboxBacklog::default());
    }

    /// A buried row is a dead letter that tells where it came from and why, and its key is free.
    async fn a_buried_row_is_a_dead_letter(harness) {
        let mut sent = message(1, "sick");
        harness.insert(&[sent.clone(), message(2, "sick")]).await;
        harness.outbox().park(&[failed(1, 60_000)]).await.unwrap();
        for _ in 0..2 {
            harness.outbox().bury(EventId::from_raw(1), "too large").await.unwrap();
        }
        assert_eq!(claimed(&harness.outbox().claim(every_shard(10)).await.unwrap()), [2]);
        let letters = harness.dead_letters().list(None, 10).await.unwrap();
        sent.topic = format!("{TOPIC}.dlq");
        sent.set_header(header::ORIGINAL_TOPIC, TOPIC);
        sent.set_header(header::REASON, "too large");
        assert_eq!(letters.iter().map(|letter| &letter.message).collect::<Vec<_>>(), [&sent]);
    }

    /// The backlog tells rows, parked rows and the age of the oldest.
    async fn the_backlog_tells_what_waits(harness) {
        assert_eq!(harness.outbox().backlog().await.unwrap(), OutboxBacklog::default());
        harness.insert(&[message(1, "sick"), message(2, "sick")]).await;
        harness.clock().advance(Duration::from_secs(5));
        harness.insert(&[message(3, "well")]).await;
        harness.outbox().park(&[failed(2, 1_000)]).await.unwrap();
        let expected = OutboxBacklog { unsent: 3, parked: 2, oldest_age: Duration::from_secs(5) };
        assert_eq!(harness.outbox().backlog().await.unwrap(), expected);
    }

    /// A moment is over once nothing that was inserted up to it is unsent, and not before it is well past.
    async fn a_moment_is_open_while_something_before_it_is_unsent(harness) {
        let (outbox, moment) = (harness.outbox(), harness.clock().now());
        assert!(outbox.has_unsent_before(moment).await.unwrap(), "a transaction may still commit a row of that moment");
        harness.insert(&[message(1, "a")]).await;
        harness.clock().advance(Duration::from_secs(3_600));
        harness.insert(&[message(2, "b")]).await;
        assert!(outbox.has_unsent_before(moment).await.unwrap());
        outbox.park(&[failed(1, 60_000)]).await.unwrap();
        assert!(outbox.has_unsent_before(moment).await.unwrap(), "what is parked is unsent");
        outbox.delete(&ids(&[1])).await.unwrap();
        assert!(!outbox.has_unsent_before(moment).await.unwrap(), "what came later does not matter");
    }

    /// A backlog is drained in batches that neither repeat nor skip a row.
    async fn a_backlog_is_drained_in_batches(harness) {
        let sent: Vec<_> = (1..=1_000).map(|number| message_of((number % 64) as u8, number, &number.to_string())).collect();
        harness.insert(&sent).await;
        let mut drained = Vec::new();
        loop {
            let rows = claimed(&harness.outbox().claim(every_shard(128)).await.unwrap());
            if rows.is_empty() {
                break;
            }
            harness.outbox().delete(&ids(&rows)).await.unwrap();
            drained.extend(rows);
        }
        drained.sort_unstable();
        assert_eq!(drained, (1..=1_000).collect::<Vec<_>>());
    }
}
