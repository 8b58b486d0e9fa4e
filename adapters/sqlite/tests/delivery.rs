//! The machines of messaging on a real store: relay, coordinator and consumer against the tables of SQLite.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use madang_kernel::{Clock, EventId, Id, SHARDS, ShardId, StoreError, SystemClock};
use madang_messaging::consumer::ladder::Rung;
use madang_messaging::{
    Applied, Assignment, Backoff, Consumer, ConsumerConfig, Coordinator, CoordinatorConfig, DeadLetters, Delivery,
    EventLog, GroupId, Handled, Handler, HandlerError, Inbox, InstanceId, Ladder, Message, Moment, OnError, Outbox,
    Polled, Relay, RelayConfig, Replayed, Supervisor, header, replay,
};
use madang_sqlite::{
    Lane, RetentionOptions, Sqlite, SqliteDeadLetters, SqliteInbox, SqliteLog, SqliteMembership, SqliteOptions,
    SqliteOutbox, insert_outbox,
};
use tokio::sync::watch;

const TOPIC: &str = "test.thing.v1";
/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

struct Site {
    db: Sqlite,
    supervisor: Supervisor,
    _directory: tempfile::TempDir,
}

impl Site {
    /// On the host's clock: the loops wait for real.
    fn fresh() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let db = Sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock)).unwrap();
        Self { db, supervisor: Supervisor::new("test"), _directory: directory }
    }

    /// Commits messages to the outbox and tells nobody, as a process does that dies right after its COMMIT.
    async fn commit(&self, messages: Vec<Message>) {
        let insert = self.db.write(Lane::People, move |tx| {
            let now = SystemClock.now();
            messages.iter().try_for_each(|message| insert_outbox(tx, message, now)).map_err(broken)
        });
        insert.await.unwrap();
    }

    fn relay(&self, config: RelayConfig) {
        let (_, assignment) = watch::channel(Assignment::ALL);
        let outbox = Arc::new(SqliteOutbox::new(self.db.clone()));
        let log = Arc::new(SqliteLog::new(self.db.clone()));
        let (relay, _) = Relay::new(config, outbox, log, assignment, Arc::new(SystemClock));
        self.supervisor.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
    }

    /// Every message in the log, by event, with how often it is there.
    async fn published(&self) -> HashMap<EventId, usize> {
        let log = SqliteLog::new(self.db.clone());
        let mut reader = log.subscribe(&GroupId::new("reader"), &[TOPIC.to_owned()]).await.unwrap();
        let mut seen = HashMap::new();
        while let Polled::Deliveries(batch) = reader.poll(1_000, Duration::ZERO).await.unwrap() {
            if batch.is_empty() {
                break;
            }
            for delivery in batch {
                *seen.entry(delivery.message.event_id).or_insert(0) += 1;
            }
        }
        seen
    }
}

fn broken(error: rusqlite::Error) -> StoreError {
    StoreError::broken("test", error)
}

fn message(number: i64, key: &str, payload: impl Into<Bytes>) -> Message {
    Message {
        event_id: EventId::from_raw(number),
        topic: TOPIC.to_owned(),
        key: key.to_owned(),
        shard: ShardId::new((number % SHARDS as i64) as u8).unwrap(),
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

fn impatient_relay() -> RelayConfig {
    let at_once = Backoff { base_ms: 1, cap_ms: 5 };
    RelayConfig { min_age_ms: 0, poll_every_ms: 5, attempts_max: 3, park_backoff: at_once, ..RelayConfig::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_hundred_thousand_events_that_nobody_handed_over_outbox_and_log_are_back_at_their_bound() {
    let site = Site::fresh();
    for slice in 0..100 {
        site.commit((1..=1_000).map(|n| message(slice * 1_000 + n, &format!("key-{}", n % 97), "{}")).collect()).await;
    }
    site.relay(impatient_relay());
    let outbox = SqliteOutbox::new(site.db.clone());
    eventually("the outbox is empty", || async { outbox.backlog().await.unwrap().unsent == 0 }).await;
    let published = site.published().await;
    assert_eq!(published.len(), 100_000);
    assert!(published.values().all(|times| *times == 1), "nothing crashed, so nothing is doubled");
    let log = SqliteLog::new(site.db.clone());
    log.forget_group(&GroupId::new("reader")).await.unwrap();
    log.trim(RetentionOptions { keep_rows: 1_000, ..RetentionOptions::default() }).await.unwrap();
    let sizes = site.db.sizes().await.unwrap();
    assert_eq!((sizes.outbox, sizes.log), (0, 1_000));
    assert!(site.supervisor.shutdown(PATIENCE).await.aborted.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_the_log_refuses_is_buried_and_stops_no_other_key() {
    let site = Site::fresh();
    let too_large = Bytes::from(vec![b'x'; 5 << 20]);
    let mut messages = vec![message(1, "large", too_large)];
    messages.extend((2..=200).map(|n| message(n, &format!("key-{n}"), "{}")));
    site.commit(messages).await;
    site.relay(impatient_relay());
    let letters = SqliteDeadLetters::new(site.db.clone());
    eventually("it is buried", || async { letters.count().await.unwrap() == 1 }).await;
    let outbox = SqliteOutbox::new(site.db.clone());
    eventually("the outbox is empty", || async { outbox.backlog().await.unwrap().unsent == 0 }).await;
    assert_eq!(site.published().await.len(), 199);
    let letter = letters.list(None, 10).await.unwrap().remove(0);
    assert_eq!(letter.message.event_id, EventId::from_raw(1));
    assert_eq!(letter.message.payload.len(), 5 << 20, "as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_share_the_shards_and_one_inherits_all_when_the_other_leaves() {
    let site = Site::fresh();
    let membership = Arc::new(SqliteMembership::new(site.db.clone()));
    let config = CoordinatorConfig { heartbeat_ms: 20, reread_ms: 10, ..CoordinatorConfig::default() };
    let join = |name: &'static str, supervisor: &Supervisor| {
        let instance = InstanceId::new(name);
        let clock = Arc::new(SystemClock);
        let coordinator = Coordinator::new("relay", instance, config.clone(), membership.clone(), clock);
        let assignment = coordinator.assignment();
        supervisor.spawn("coordinator", OnError::Restart, move |stop| coordinator.clone().run(stop));
        assignment
    };
    let second_process = Supervisor::new("second");
    let (first, second) = (join("a", &site.supervisor), join("b", &second_process));
    let halves = || async { (*first.borrow(), *second.borrow()) == (Assignment::of(0..32), Assignment::of(32..64)) };
    eventually("each serves half", halves).await;
    assert!(second_process.shutdown(PATIENCE).await.aborted.is_empty());
    eventually("the other serves all", || async { *first.borrow() == Assignment::ALL }).await;
}

/// Counts a thing once per event, through the inbox, and fails as its message says.
struct Counting {
    inbox: SqliteInbox,
    healed: AtomicBool,
}

impl Counting {
    async fn apply(&self, delivery: &Delivery) -> Result<Handled, HandlerError> {
        match delivery.message.payload.as_ref() {
            b"sick" if !self.healed.load(Ordering::SeqCst) => return Err(HandlerError::Failed("not yet".into())),
            b"garbage" => return Err(HandlerError::Undecodable("not a thing".into())),
            _ => {}
        }
        let key = delivery.message.key.clone();
        let effect = Box::new(move |tx: &rusqlite::Connection| {
            let counted = "INSERT INTO counted VALUES (?1, 1) ON CONFLICT (key) DO UPDATE SET times = times + 1";
            tx.execute(counted, [key]).map(|_| ()).map_err(|error| HandlerError::Failed(error.to_string()))
        });
        let message = &delivery.message;
        let applied = self.inbox.apply_once(&GroupId::new("counting"), message.event_id, None, effect).await?;
        assert!(matches!(applied, Applied::Now | Applied::Before));
        Ok(Handled::Done)
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

async fn counted(db: &Sqlite, key: &'static str) -> i64 {
    let count = db.read(move |connection| {
        let sum = "SELECT coalesce(sum(times), 0) FROM counted WHERE key = ?1";
        connection.query_row(sum, [key], |row| row.get(0)).map_err(broken)
    });
    count.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_climbs_both_rungs_dies_and_comes_back_by_replay_while_others_pass() {
    let site = Site::fresh();
    let create = "CREATE TABLE counted (key TEXT PRIMARY KEY, times INTEGER NOT NULL) STRICT";
    site.db.write(Lane::People, move |tx| tx.execute_batch(create).map_err(broken)).await.unwrap();
    let log = Arc::new(SqliteLog::new(site.db.clone()));
    let letters = SqliteDeadLetters::new(site.db.clone());
    let handler = Arc::new(Counting { inbox: SqliteInbox::new(site.db.clone()), healed: AtomicBool::new(false) });
    let ladder = Ladder(vec![Rung { name: "5s", delay_ms: 50 }, Rung { name: "1m", delay_ms: 100 }]);
    let mut config = ConsumerConfig::new(GroupId::new("counting"), vec![TOPIC.to_owned()]);
    config.ladder = ladder.clone();
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
    assert_eq!(sick[0].message.header(header::ATTEMPTS), Some("9"), "three in place, on each of three lanes");
    assert_eq!(sick[0].message.topic, format!("{TOPIC}.counting.dlq"));

    handler.healed.store(true, Ordering::SeqCst);
    let now = Moment::new(0, SystemClock.now());
    let would = replay(&letters, log.as_ref(), &ladder, &sick[0].id, true, now).await.unwrap();
    assert_eq!(would, Replayed::WouldPublish(format!("{TOPIC}.counting.retry.5s")));
    assert_eq!(letters.count().await.unwrap(), 3, "a dry run does nothing");
    for letter in &sick {
        replay(&letters, log.as_ref(), &ladder, &letter.id, false, now).await.unwrap();
    }
    let mut marker = message(5, "marker", "x");
    marker.topic = format!("{TOPIC}.counting.retry.5s");
    log.publish(&[marker]).await.unwrap();
    eventually("what came after both replays is counted", || async { counted(&site.db, "marker").await == 1 }).await;
    assert_eq!(counted(&site.db, "sick").await, 1, "the same event twice is one effect");
    assert_eq!(letters.count().await.unwrap(), 1, "only the garbage is left");
    assert!(site.supervisor.shutdown(PATIENCE).await.aborted.is_empty());
}
