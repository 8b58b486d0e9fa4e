//! The retry ladder on the embedded log: a message that fails is tried again, given up, and replayed by a person.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use madang_engine_sqlite::{Priority, Sqlite, SqliteDeadLetters, SqliteLog, SqliteOptions};
use madang_kernel::{Clock, EventId, Id, ShardId, SystemClock};
use madang_messaging::consumer::ladder::Rung;
use madang_messaging::{
    Backoff, Consumer, ConsumerConfig, DeadLetters, Delivery, EventLog, GroupId, Handled, Handler, HandlerError,
    Ladder, Ladders, Message, Moment, OnError, Replayed, Supervisor, header, replay,
};
use support::{Plain, broken};

const TOPIC: &str = "test.thing.v1";
/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

struct Site {
    db: Sqlite<Plain>,
    supervisor: Supervisor,
    _directory: tempfile::TempDir,
}

impl Site {
    /// On the host's clock: the loops wait for real.
    fn fresh() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let db = support::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock));
        Self { db, supervisor: Supervisor::new("test"), _directory: directory }
    }
}

fn message(number: i64, key: &str, payload: &'static str) -> Message {
    Message {
        event_id: EventId::from_raw(number),
        topic: TOPIC.to_owned(),
        key: key.to_owned(),
        shard: ShardId::HOME,
        occurred_at: SystemClock.now(),
        headers: Vec::new(),
        payload: payload.into(),
    }
}

async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    let wait = async {
        while !holds().await {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Counts a thing once per event, and fails as its message says.
struct Counting {
    db: Sqlite<Plain>,
    healed: AtomicBool,
}

impl Counting {
    async fn apply(&self, delivery: &Delivery) -> Result<Handled, HandlerError> {
        match delivery.message.payload.as_ref() {
            b"sick" if !self.healed.load(Ordering::SeqCst) => return Err(HandlerError::Failed("not yet".into())),
            b"garbage" => return Err(HandlerError::Undecodable("not a thing".into())),
            _ => {}
        }
        let (event, key) = (delivery.message.event_id.raw(), delivery.message.key.clone());
        let counted = self.db.write(Priority::Background, move |tx| {
            tx.execute("INSERT OR IGNORE INTO counted VALUES (?1, ?2)", rusqlite::params![event, key]).map_err(broken)
        });
        counted.await.map(|_| Handled::Done).map_err(|error| HandlerError::Failed(error.to_string()))
    }
}

#[async_trait]
impl Handler for Counting {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut answers = Vec::new();
        for delivery in deliveries {
            answers.push(self.apply(delivery).await);
        }
        answers
    }
}

async fn counted(db: &Sqlite<Plain>, key: &'static str) -> i64 {
    let count = db.read(move |snapshot| {
        snapshot.query_row("SELECT count(*) FROM counted WHERE key = ?1", [key], |row| row.get(0)).map_err(broken)
    });
    count.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_climbs_both_rungs_dies_and_comes_back_by_replay_while_others_pass() {
    let site = Site::fresh();
    let create = "CREATE TABLE counted (event_id INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT";
    site.db.write(Priority::Foreground, move |tx| tx.execute_batch(create).map_err(broken)).await.unwrap();
    let log = Arc::new(SqliteLog::new(site.db.clone()));
    let letters = SqliteDeadLetters::new(site.db.clone());
    let handler = Arc::new(Counting { db: site.db.clone(), healed: AtomicBool::new(false) });
    let ladder = Ladder(vec![Rung { name: "5s", delay_ms: 50 }, Rung { name: "1m", delay_ms: 100 }]);
    let mut config = ConsumerConfig::new(GroupId::new("counting"), vec![TOPIC.to_owned()]);
    config.ladder = ladder;
    let ladders = Ladders::of(std::slice::from_ref(&config));
    config.in_place_backoff = Backoff { base_ms: 1, cap_ms: 2 };
    let consumer = Consumer::new(config, log.clone(), handler.clone(), Arc::new(SystemClock));
    site.supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));

    let sick = message(1, "sick", "sick");
    // The sick one twice, as a relay that lost an acknowledgement publishes it.
    let batch = [sick.clone(), message(2, "well", "x"), sick, message(3, "odd", "garbage"), message(4, "well", "x")];
    log.publish(&batch).await.unwrap();
    eventually("the well are counted", || async { counted(&site.db, "well").await == 2 }).await;
    eventually("three letters", || async { letters.count().await.unwrap() == 3 }).await;
    assert_eq!(counted(&site.db, "sick").await, 0);

    let dead = letters.list(None, 10).await.unwrap();
    let odd = dead.iter().find(|letter| letter.message.key == "odd").unwrap();
    assert_eq!(odd.message.payload, Bytes::from_static(b"garbage"), "raw, at once");
    assert_eq!(odd.message.header(header::ATTEMPTS), Some("1"));
    let sick: Vec<_> = dead.iter().filter(|letter| letter.message.key == "sick").collect();
    assert_eq!(sick[0].message.header(header::ATTEMPTS), Some("9"), "three in place, each of three times");
    assert_eq!(sick[0].message.topic, format!("{TOPIC}.counting.dlq"));

    handler.healed.store(true, Ordering::SeqCst);
    let now = Moment::new(0, SystemClock.now());
    let would = replay(&letters, log.as_ref(), &ladders, &sick[0].id, true, now).await.unwrap();
    assert_eq!(would, Replayed::WouldPublish(format!("{TOPIC}.counting.retry.5s")));
    assert_eq!(letters.count().await.unwrap(), 3, "a dry run does nothing");
    for letter in &sick {
        replay(&letters, log.as_ref(), &ladders, &letter.id, false, now).await.unwrap();
    }
    let mut marker = message(5, "marker", "x");
    marker.topic = format!("{TOPIC}.counting.retry.5s");
    log.publish(&[marker]).await.unwrap();
    eventually("what came after both replays is counted", || async { counted(&site.db, "marker").await == 1 }).await;
    assert_eq!(counted(&site.db, "sick").await, 1, "the same event twice is one effect");
    assert_eq!(letters.count().await.unwrap(), 1, "only the garbage is left");
    assert!(site.supervisor.shutdown(PATIENCE).await.aborted.is_empty());
}
