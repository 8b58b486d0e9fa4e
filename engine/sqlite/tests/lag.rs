//! How far groups are behind: exact when it is little, never too low when it is much, rungs apart.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::time::Duration;

use bytes::Bytes;
use madang_engine_sqlite::{Backlog, RetentionOptions, SqliteLog};
use madang_kernel::{Clock, EventId, Id, ShardId, Timestamp};
use madang_messaging::{EventLog, GroupId, Message, Polled, Subscription};
use support::{Plain, TestDb};

const RUNG: &str = "a.readers.retry.5s";

struct Fixture {
    test: TestDb,
    log: SqliteLog<Plain>,
}

impl Fixture {
    fn fresh() -> Self {
        let test = TestDb::fresh();
        let log = SqliteLog::new(test.db.clone());
        Self { test, log }
    }

    fn group() -> GroupId {
        GroupId::new("readers")
    }

    async fn subscribe(&self, topics: &[&str]) -> Box<dyn Subscription> {
        let topics: Vec<_> = topics.iter().map(|topic| (*topic).to_owned()).collect();
        self.log.subscribe(&Self::group(), &topics).await.unwrap()
    }

    /// Publishes what occurred so long ago.
    async fn publish(&self, topic: &str, count: usize, age: Duration) {
        let occurred_at = self.now().as_millis() - age.as_millis() as i64;
        let message = Message {
            event_id: EventId::from_raw(1),
            topic: topic.to_owned(),
            key: "key".into(),
            shard: ShardId::HOME,
            occurred_at: Timestamp::from_millis(occurred_at),
            headers: Vec::new(),
            payload: Bytes::from_static(b"{}"),
        };
        self.log.publish(&vec![message; count]).await.unwrap();
    }

    fn now(&self) -> Timestamp {
        self.test.clock.now()
    }

    async fn behind(&self) -> (Backlog, Backlog) {
        let lag = self.log.lag().await.unwrap().remove(0);
        assert_eq!(lag.group, Self::group());
        (lag.topics, lag.rungs)
    }

    async fn caught_up(&self, before: Timestamp) -> bool {
        self.log.caught_up(&Self::group(), &["a".to_owned(), "b".to_owned()], before).await.unwrap()
    }
}

/// Reads and stores up to `max` entries.
async fn read(subscription: &mut dyn Subscription, max: usize) {
    let Polled::Deliveries(came) = subscription.poll(max, Duration::ZERO).await.unwrap() else { panic!("deliveries") };
    for delivery in came {
        subscription.commit(&[delivery.position]).await.unwrap();
    }
}

fn exactly(entries: u64, age_secs: Option<u64>) -> Backlog {
    Backlog { entries, is_exact: true, oldest_age: age_secs.map(Duration::from_secs) }
}

#[tokio::test]
async fn a_little_lag_is_counted_and_the_rungs_apart() {
    let fixture = Fixture::fresh();
    let mut reader = fixture.subscribe(&["a", "b"]).await;
    let _rung = fixture.subscribe(&[RUNG]).await;
    assert_eq!(fixture.behind().await, (exactly(0, None), exactly(0, None)));
    fixture.publish("a", 3, Duration::from_secs(9)).await;
    fixture.publish("elsewhere", 500, Duration::from_secs(60)).await;
    fixture.publish("b", 2, Duration::from_secs(4)).await;
    fixture.publish(RUNG, 1, Duration::from_secs(30)).await;
    assert_eq!(fixture.behind().await, (exactly(5, Some(9)), exactly(1, Some(30))));
    read(&mut *reader, 4).await;
    assert_eq!(fixture.behind().await, (exactly(1, Some(4)), exactly(1, Some(30))));
    read(&mut *reader, 4).await;
    assert_eq!(fixture.behind().await, (exactly(0, None), exactly(1, Some(30))));
}

#[tokio::test]
async fn much_lag_is_never_told_too_low() {
    let fixture = Fixture::fresh();
    let _reader = fixture.subscribe(&["a", "b"]).await;
    fixture.publish("a", 3_000, Duration::ZERO).await;
    fixture.publish("elsewhere", 100, Duration::ZERO).await;
    fixture.publish("b", 2_000, Duration::ZERO).await;
    fixture.publish("a", 1, Duration::ZERO).await;
    let (topics, _) = fixture.behind().await;
    assert!(!topics.is_exact && (5_001..=5_101).contains(&topics.entries), "{topics:?}");
}

#[tokio::test]
async fn caught_up_means_that_nothing_older_is_left_wherever_it_waits() {
    let fixture = Fixture::fresh();
    let day_end = fixture.now();
    assert!(!fixture.caught_up(day_end).await, "nobody knows such a group");
    let mut reader = fixture.subscribe(&["a", "b"]).await;
    let mut rung = fixture.subscribe(&[RUNG]).await;
    assert!(fixture.caught_up(day_end).await);
    fixture.publish("a", 1, Duration::from_millis(1)).await;
    assert!(!fixture.caught_up(day_end).await);
    read(&mut *reader, 10).await;
    assert!(fixture.caught_up(day_end).await);
    // At the moment itself is not before it.
    fixture.publish("b", 1, Duration::ZERO).await;
    assert!(fixture.caught_up(day_end).await);
    // A clock that was set back: the old one stands behind a newer one.
    fixture.publish("b", 1, Duration::from_secs(5)).await;
    assert!(!fixture.caught_up(day_end).await);
    read(&mut *reader, 10).await;
    fixture.publish(RUNG, 1, Duration::from_secs(5)).await;
    assert!(!fixture.caught_up(day_end).await, "it waits for another attempt");
    read(&mut *rung, 10).await;
    assert!(fixture.caught_up(day_end).await);
}

#[tokio::test]
async fn a_group_that_fell_behind_is_not_caught_up_and_says_so() {
    let fixture = Fixture::fresh();
    let _reader = fixture.subscribe(&["a", "b"]).await;
    fixture.publish("a", 50, Duration::ZERO).await;
    let options = RetentionOptions { keep_rows: 0, hard_max_rows: 10, ..RetentionOptions::default() };
    fixture.log.trim(options, fixture.test.clock.now()).await.unwrap();
    assert!(!fixture.caught_up(Timestamp::from_millis(0)).await);
    assert!(fixture.log.lag().await.unwrap()[0].fell_behind);
}
