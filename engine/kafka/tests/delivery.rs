//! Relay and consumer on Kafka: one message all the way up the ladder and back, and a backlog at the broker's speed.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use madang_kernel::{Clock, EventId, SystemClock};
use madang_messaging::consumer::ladder::Rung;
use madang_messaging::{
    Assignment, Consumer, ConsumerConfig, DeadLetters, Delivery, EventLog, GroupId, Handled, Handler, HandlerError,
    Ladder, Ladders, Moment, OnError, Outbox, Relay, RelayConfig, Replayed, Supervisor, header, replay,
};
use support::outbox::TestOutbox;
use support::{AT_ONCE, PATIENCE, TOPIC, eventually, fresh, message};
use tokio::sync::watch;

/// Applies each event once, and fails as its message says.
#[derive(Default)]
struct Counting {
    seen: Mutex<HashSet<EventId>>,
    counted: Mutex<HashMap<String, usize>>,
    healed: AtomicBool,
}

impl Counting {
    fn apply(&self, delivery: &Delivery) -> Result<Handled, HandlerError> {
        match delivery.message.payload.as_ref() {
            b"sick" if !self.healed.load(Ordering::SeqCst) => return Err(HandlerError::Failed("not yet".into())),
            b"garbage" => return Err(HandlerError::Undecodable("not a thing".into())),
            _ => {}
        }
        if self.seen.lock().unwrap().insert(delivery.message.event_id) {
            *self.counted.lock().unwrap().entry(delivery.message.key.clone()).or_default() += 1;
        }
        Ok(Handled::Done)
    }

    fn of(&self, key: &str) -> usize {
        self.counted.lock().unwrap().get(key).copied().unwrap_or(0)
    }
}

#[async_trait]
impl Handler for Counting {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        deliveries.iter().map(|delivery| self.apply(delivery)).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_climbs_both_rungs_dies_and_comes_back_by_replay_while_others_pass() {
    let (log, _) = fresh().await;
    let (letters, handler) = (log.dead_letters(), Arc::new(Counting::default()));
    let ladder = Ladder(vec![Rung { name: "5s", delay_ms: 300 }, Rung { name: "1m", delay_ms: 700 }]);
    let mut config = ConsumerConfig::new(GroupId::new("counting"), vec![TOPIC.to_owned()]);
    (config.ladder, config.in_place_backoff) = (ladder, AT_ONCE);
    let ladders = Ladders::of(std::slice::from_ref(&config));
    log.prepare(std::slice::from_ref(&config)).await.unwrap();
    let supervisor = Supervisor::new("test");
    let consumer = Consumer::new(config, Arc::new(log.clone()), handler.clone(), Arc::new(SystemClock));
    supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));

    let began = Instant::now();
    let sick = message(1, "sick", "sick");
    // The sick one twice, as a relay that lost an acknowledgement publishes it.
    let batch = [sick.clone(), message(2, "well", "x"), sick, message(3, "odd", "garbage"), message(4, "well", "x")];
    log.publish(&batch).await.unwrap();
    eventually("the well are counted", || async { handler.of("well") == 2 }).await;
    eventually("three letters", || async { letters.count().await.unwrap() == 3 }).await;
    assert!(began.elapsed() >= Duration::from_millis(1_000), "it waited on both rungs");
    assert_eq!(handler.of("sick"), 0);

    let dead = letters.list(None, 10).await.unwrap();
    let odd = dead.iter().find(|letter| letter.message.key == "odd").unwrap();
    assert_eq!(odd.message.payload, Bytes::from_static(b"garbage"), "raw, at once");
    assert_eq!(odd.message.header(header::ATTEMPTS), Some("1"));
    let sick: Vec<_> = dead.iter().filter(|letter| letter.message.key == "sick").collect();
    assert_eq!(sick[0].message.header(header::ATTEMPTS), Some("9"), "three in place, on each of three lanes");
    assert_eq!(sick[0].message.topic, format!("{TOPIC}.counting.dlq"));
    assert_eq!(sick[0].message.header(header::REASON), Some("not yet"));

    handler.healed.store(true, Ordering::SeqCst);
    let now = Moment::new(0, SystemClock.now());
    let would = replay(&letters, &log, &ladders, &sick[0].id, true, now).await.unwrap();
    assert_eq!(would, Replayed::WouldPublish(format!("{TOPIC}.counting.retry.5s")));
    assert_eq!(letters.count().await.unwrap(), 3, "a dry run does nothing");
    for letter in &sick {
        replay(&letters, &log, &ladders, &letter.id, false, now).await.unwrap();
    }
    eventually("the replayed is counted", || async { handler.of("sick") == 1 }).await;
    eventually("only the garbage is left", || async { letters.count().await.unwrap() == 1 }).await;
    let (group, rung) = (GroupId::new("counting"), [format!("{TOPIC}.counting.retry.5s")]);
    eventually("both replays are done", || async { log.lag(&group, &rung).await.unwrap() == 0 }).await;
    assert_eq!(handler.of("sick"), 1, "the same event twice is one effect");
    assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
    assert!(log.close(PATIENCE).await);
}

/// Counts what it is handed.
#[derive(Default)]
struct Draining {
    applied: AtomicUsize,
    events: Mutex<HashSet<EventId>>,
}

#[async_trait]
impl Handler for Draining {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        self.applied.fetch_add(deliveries.len(), Ordering::SeqCst);
        self.events.lock().unwrap().extend(deliveries.iter().map(|delivery| delivery.message.event_id));
        deliveries.iter().map(|_| Ok(Handled::Done)).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_of_a_hundred_thousand_drains_at_the_speed_of_the_broker() {
    const COUNT: usize = 100_000;
    /// Far above one message per round trip, far below what a broker of one's own does.
    const RATE_MIN_PER_S: f64 = 2_000.0;
    let (log, _) = fresh().await;
    let payload = Bytes::from(vec![b'x'; 300]);
    let outbox = Arc::new(TestOutbox::default());
    outbox.commit((1..=COUNT as i64).map(|n| message(n, &n.to_string(), payload.clone())));

    let supervisor = Supervisor::new("test");
    let (_keep, assignment) = watch::channel(Assignment::ALL);
    let config = RelayConfig { min_age_ms: 0, poll_every_ms: 5, ..RelayConfig::default() };
    let (relay, _) = Relay::new(config, outbox.clone(), Arc::new(log.clone()), assignment, Arc::new(SystemClock));
    let began = Instant::now();
    supervisor.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
    eventually("the outbox is empty", || async { outbox.backlog().await.unwrap().unsent == 0 }).await;
    let relayed = COUNT as f64 / began.elapsed().as_secs_f64();

    let handler = Arc::new(Draining::default());
    let config = ConsumerConfig::new(GroupId::new("draining"), vec![TOPIC.to_owned()]);
    let consumer = Consumer::new(config, Arc::new(log.clone()), handler.clone(), Arc::new(SystemClock));
    supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
    eventually("it has joined", || async { handler.applied.load(Ordering::SeqCst) > 0 }).await;
    let (began, before) = (Instant::now(), handler.applied.load(Ordering::SeqCst));
    let (group, topics) = (GroupId::new("draining"), [TOPIC.to_owned()]);
    eventually("everything is applied", || async { handler.applied.load(Ordering::SeqCst) >= COUNT }).await;
    let drained = (COUNT - before) as f64 / began.elapsed().as_secs_f64();
    eventually("and stored", || async { log.lag(&group, &topics).await.unwrap() == 0 }).await;
    println!("{COUNT} messages: relayed from the outbox at {relayed:.0}/s, consumed and stored at {drained:.0}/s");
    assert_eq!(handler.events.lock().unwrap().len(), COUNT);
    assert_eq!(handler.applied.load(Ordering::SeqCst), COUNT, "nothing crashed, so nothing is doubled");
    assert!(relayed > RATE_MIN_PER_S && drained > RATE_MIN_PER_S);
    assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
}

/// Remembers how long each message was under way.
#[derive(Default)]
struct Timing {
    under_way_ms: Mutex<Vec<i64>>,
}

#[async_trait]
impl Handler for Timing {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let now = SystemClock.now().as_millis();
        let ages = deliveries.iter().map(|delivery| now - delivery.message.occurred_at.as_millis());
        self.under_way_ms.lock().unwrap().extend(ages);
        deliveries.iter().map(|_| Ok(Handled::Done)).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_messages_a_second_arrive_soon() {
    const COUNT: usize = 2_000;
    let (log, _) = fresh().await;
    let (supervisor, handler) = (Supervisor::new("test"), Arc::new(Timing::default()));
    let config = ConsumerConfig::new(GroupId::new("timing"), vec![TOPIC.to_owned()]);
    let consumer = Consumer::new(config, Arc::new(log.clone()), handler.clone(), Arc::new(SystemClock));
    supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
    log.publish(&[message(1, "first", "{}")]).await.unwrap();
    eventually("it has joined", || async { !handler.under_way_ms.lock().unwrap().is_empty() }).await;
    handler.under_way_ms.lock().unwrap().clear();
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    for turn in 0..COUNT as i64 / 5 {
        ticks.tick().await;
        let batch: Vec<_> = (2..7).map(|n| message(turn * 5 + n, &(turn * 5 + n).to_string(), "{}")).collect();
        log.publish(&batch).await.unwrap();
    }
    eventually("all arrived", || async { handler.under_way_ms.lock().unwrap().len() == COUNT }).await;
    let mut ages = handler.under_way_ms.lock().unwrap().clone();
    ages.sort_unstable();
    let (half, most) = (ages[COUNT / 2], ages[COUNT * 99 / 100]);
    println!("publish to handler at 500/s: p50 {half} ms, p99 {most} ms, worst {} ms", ages[COUNT - 1]);
    assert!(most < 1_000, "far above what it takes, also beside other tests");
    assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn publishing_from_many_tasks_fills_the_pipe() {
    const COUNT: i64 = 100_000;
    let (log, _) = fresh().await;
    log.publish(&[message(COUNT + 1, "warm", "{}")]).await.unwrap();
    let payload = Bytes::from(vec![b'x'; 300]);
    let began = Instant::now();
    let mut publishers = tokio::task::JoinSet::new();
    for publisher in 0..8_i64 {
        let (log, payload) = (log.clone(), payload.clone());
        publishers.spawn(async move {
            for start in (publisher * COUNT / 8..(publisher + 1) * COUNT / 8).step_by(500) {
                let batch: Vec<_> = (start..start + 500).map(|n| message(n, &n.to_string(), payload.clone())).collect();
                log.publish(&batch).await.unwrap();
            }
        });
    }
    while let Some(published) = publishers.join_next().await {
        published.unwrap();
    }
    println!("8 tasks publish batches of 500: {:.0} messages/s", COUNT as f64 / began.elapsed().as_secs_f64());
}
