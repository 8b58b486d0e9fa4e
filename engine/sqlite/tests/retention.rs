//! The log stays within its bound: read entries go, unread ones stay, and whoever is hopelessly behind is told.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::time::Duration;

use bytes::Bytes;
use madang_engine_sqlite::{RetentionOptions, SqliteLog};
use madang_kernel::{Clock, EventId, Id, ShardId};
use madang_messaging::{EventLog, GroupId, Message, Polled, Subscription};
use support::{Plain, TestDb, broken};

const TOPIC: &str = "topic";

struct Fixture {
    test: TestDb,
    log: SqliteLog<Plain>,
    published: i64,
}

impl Fixture {
    fn fresh() -> Self {
        let test = TestDb::fresh();
        let log = SqliteLog::new(test.db.clone());
        Self { test, log, published: 0 }
    }

    async fn publish(&mut self, count: i64) {
        let first = self.published + 1;
        self.published += count;
        let message = |number| Message {
            event_id: EventId::from_raw(number),
            topic: TOPIC.into(),
            key: "key".into(),
            shard: ShardId::HOME,
            occurred_at: self.test.clock.now(),
            headers: Vec::new(),
            payload: Bytes::from_static(b"{}"),
        };
        let messages: Vec<_> = (first..=self.published).map(message).collect();
        for batch in messages.chunks(1_000) {
            self.log.publish(batch).await.unwrap();
        }
    }

    async fn subscribe(&self, topics: &[&str]) -> Box<dyn Subscription> {
        let topics: Vec<_> = topics.iter().map(|topic| (*topic).to_owned()).collect();
        self.log.subscribe(&GroupId::new("readers"), &topics).await.unwrap()
    }

    async fn rows(&self) -> i64 {
        let count = self.test.db.read(|snapshot| {
            snapshot.query_row("SELECT count(*) FROM event_log", [], |row| row.get(0)).map_err(broken)
        });
        count.await.unwrap()
    }
}

/// Reads and stores everything; returns how much there was.
async fn read_all(subscription: &mut dyn Subscription) -> usize {
    let mut read = 0;
    while let Polled::Deliveries(came) = subscription.poll(5_000, Duration::ZERO).await.unwrap() {
        let Some(last) = came.last() else { break };
        subscription.commit(std::slice::from_ref(&last.position)).await.unwrap();
        read += came.len();
    }
    read
}

fn keep(rows: u64) -> RetentionOptions {
    RetentionOptions { keep_rows: rows, ..RetentionOptions::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_events_come_back_to_the_bound() {
    let mut fixture = Fixture::fresh();
    let mut reader = fixture.subscribe(&[TOPIC, "topic.readers.retry.5s"]).await;
    fixture.publish(100_000).await;
    assert_eq!(
        fixture.log.trim(keep(1_000), fixture.test.clock.now()).await.unwrap().removed,
        0,
        "nobody has read them"
    );
    assert_eq!(read_all(&mut *reader).await, 100_000);
    // The rung is empty, and an empty topic holds nothing back.
    assert_eq!(fixture.log.trim(keep(1_000), fixture.test.clock.now()).await.unwrap().removed, 99_000);
    assert_eq!(fixture.rows().await, 1_000);
    fixture.test.clock.advance(Duration::from_secs(3_601));
    assert_eq!(fixture.log.trim(keep(1_000), fixture.test.clock.now()).await.unwrap().removed, 1_000);
    assert_eq!(fixture.rows().await, 0);
}

#[tokio::test]
async fn positions_are_never_given_twice() {
    let mut fixture = Fixture::fresh();
    let mut reader = fixture.subscribe(&[TOPIC]).await;
    fixture.publish(10).await;
    assert_eq!(read_all(&mut *reader).await, 10);
    assert_eq!(fixture.log.trim(keep(0), fixture.test.clock.now()).await.unwrap().removed, 10);
    fixture.publish(1).await;
    assert_eq!(read_all(&mut *reader).await, 1, "an entry after an empty log is read");
}

#[tokio::test]
async fn the_slowest_group_holds_the_log_back_until_it_is_forgotten() {
    let mut fixture = Fixture::fresh();
    let mut reader = fixture.subscribe(&[TOPIC]).await;
    let slow = GroupId::new("slow");
    fixture.log.register_group(&slow, &[TOPIC.to_owned()]).await.unwrap();
    fixture.publish(100).await;
    read_all(&mut *reader).await;
    assert_eq!(fixture.log.trim(keep(0), fixture.test.clock.now()).await.unwrap().removed, 0);
    fixture.log.forget_group(&slow).await.unwrap();
    assert_eq!(fixture.log.trim(keep(0), fixture.test.clock.now()).await.unwrap().removed, 100);
}

#[tokio::test]
async fn a_group_far_behind_is_told_and_goes_on_from_the_head() {
    let mut fixture = Fixture::fresh();
    let options = RetentionOptions { hard_max_rows: 100, ..keep(10) };
    let mut reader = fixture.subscribe(&[TOPIC]).await;
    fixture.publish(100).await;
    assert_eq!(
        fixture.log.trim(options, fixture.test.clock.now()).await.unwrap().fell_behind,
        [],
        "the bound itself is still fine"
    );
    fixture.publish(1).await;
    let trimmed = fixture.log.trim(options, fixture.test.clock.now()).await.unwrap();
    assert_eq!(trimmed.fell_behind, [(GroupId::new("readers"), TOPIC.to_owned())]);
    assert_eq!(fixture.rows().await, 10, "it holds nothing back any more");

    assert_eq!(reader.poll(10, Duration::ZERO).await.unwrap(), Polled::FellBehind);
    drop(reader);
    // It died before it had rebuilt: it is told again.
    let mut reader = fixture.subscribe(&[TOPIC]).await;
    assert_eq!(reader.poll(10, Duration::ZERO).await.unwrap(), Polled::FellBehind);
    fixture.publish(1).await;
    let Polled::Deliveries(came) = reader.poll(10, Duration::ZERO).await.unwrap() else { panic!("told only once") };
    assert_eq!(came.iter().map(|delivery| delivery.message.event_id.raw()).collect::<Vec<_>>(), [102]);
    assert!(!fixture.log.groups().await.unwrap()[0].fell_behind);
}

#[tokio::test]
async fn a_group_that_reads_from_memory_learns_that_it_fell_behind() {
    let mut fixture = Fixture::fresh();
    let mut reader = fixture.subscribe(&[TOPIC]).await;
    // It reads along, but stores nothing.
    for _ in 0..101 {
        fixture.publish(1).await;
        let polled = reader.poll(10, Duration::ZERO).await.unwrap();
        assert!(matches!(polled, Polled::Deliveries(came) if came.len() == 1));
    }
    fixture.log.trim(RetentionOptions { hard_max_rows: 100, ..keep(10) }, fixture.test.clock.now()).await.unwrap();
    fixture.publish(1).await;
    assert_eq!(reader.poll(10, Duration::ZERO).await.unwrap(), Polled::FellBehind);
    fixture.publish(1).await;
    let polled = reader.poll(10, Duration::ZERO).await.unwrap();
    assert!(matches!(polled, Polled::Deliveries(came) if came.len() == 1), "it goes on from the head");
}

#[tokio::test]
async fn a_group_that_starts_at_the_head_sees_only_what_comes() {
    let mut fixture = Fixture::fresh();
    fixture.publish(5).await;
    fixture.log.register_group_at_head(&GroupId::new("readers"), &[TOPIC.to_owned()]).await.unwrap();
    let mut reader = fixture.subscribe(&[TOPIC]).await;
    assert_eq!(read_all(&mut *reader).await, 0);
    fixture.publish(2).await;
    assert_eq!(read_all(&mut *reader).await, 2);
}
