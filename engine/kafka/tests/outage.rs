//! A broker that stands still, dies and comes back, while relay and consumer run: nothing is lost, no attempt counted.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_kernel::{Id, SystemClock};
use madang_messaging::{
    Assignment, Consumer, ConsumerConfig, DeadLetters, Delivery, EventLog, GroupId, Handled, Handler, HandlerError,
    OnError, Outbox, Polled, Relay, RelayConfig, Supervisor,
};
use support::broker::Broker;
use support::outbox::TestOutbox;
use support::{PATIENCE, TOPIC, eventually, message, options};
use tokio::sync::watch;
use tokio::time::Instant;

#[derive(Default)]
struct Remembering(Mutex<HashMap<i64, usize>>);

impl Remembering {
    fn distinct(&self) -> i64 {
        self.0.lock().unwrap().len() as i64
    }
}

#[async_trait]
impl Handler for Remembering {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut applied = self.0.lock().unwrap();
        for delivery in deliveries {
            *applied.entry(delivery.message.event_id.raw()).or_default() += 1;
        }
        deliveries.iter().map(|_| Ok(Handled::Done)).collect()
    }
}

/// A site that writes all the time, whatever the broker does.
struct Site {
    supervisor: Supervisor,
    outbox: Arc<TestOutbox>,
    written: Arc<AtomicI64>,
    handler: Arc<Remembering>,
}

impl Site {
    fn start(log: &KafkaLog, config: ConsumerConfig) -> Self {
        let site = Self {
            supervisor: Supervisor::new("site"),
            outbox: Arc::default(),
            written: Arc::default(),
            handler: Arc::default(),
        };
        let (outbox, written) = (site.outbox.clone(), site.written.clone());
        site.supervisor.spawn("writer", OnError::Stop, move |stop| {
            let (outbox, written) = (outbox.clone(), written.clone());
            async move {
                while !stop.is_cancelled() {
                    let from = written.load(Ordering::SeqCst);
                    outbox.commit((from + 1..=from + 5).map(|n| message(n, &format!("key-{}", n % 101), "{}")));
                    written.fetch_add(5, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Ok::<(), String>(())
            }
        });
        let (keep, assignment) = watch::channel(Assignment::ALL);
        let relayed = RelayConfig { min_age_ms: 0, poll_every_ms: 5, ..RelayConfig::default() };
        let (relay, _) =
            Relay::new(relayed, site.outbox.clone(), Arc::new(log.clone()), assignment, Arc::new(SystemClock));
        site.supervisor.spawn("relay", OnError::Restart, move |stop| {
            let _ = &keep;
            relay.clone().run(stop)
        });
        let consumer = Consumer::new(config, Arc::new(log.clone()), site.handler.clone(), Arc::new(SystemClock));
        site.supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
        site
    }

    /// Waits until what is written by now has been applied.
    async fn catches_up(&self, when: &str) {
        let written = self.written.load(Ordering::SeqCst);
        eventually(when, || async { self.handler.distinct() >= written }).await;
    }

    /// Waits until so many more rows are written, whatever the broker does.
    async fn writes(&self, more: i64) {
        let until = self.written.load(Ordering::SeqCst) + more;
        eventually("writes go on", || async { self.written.load(Ordering::SeqCst) >= until }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_no_attempt_counted_while_the_broker_freezes_and_dies() {
    let mut broker = Broker::start().await;
    // The shortest session that a broker allows, so that the freeze outlasts it.
    let options = KafkaOptions { session_timeout_ms: 6_000, ..options(&broker.bootstrap()) };
    let log = KafkaLog::connect(options).await.unwrap();
    let config = ConsumerConfig::new(GroupId::new("readers"), vec![TOPIC.to_owned()]);
    log.prepare(std::slice::from_ref(&config)).await.unwrap();
    let site = Site::start(&log, config.clone());
    site.writes(200).await;
    site.catches_up("it works").await;

    broker.signal("STOP");
    // About ten seconds: deliveries time out, the session is over.
    site.writes(4_000).await;
    assert!(site.outbox.backlog().await.unwrap().unsent > 500, "the outbox keeps what the broker does not take");
    broker.signal("CONT");
    site.catches_up("the frozen broker is caught up with").await;

    broker.kill();
    site.writes(3_000).await;
    assert!(log.publish(&[message(1 << 40, "probe", "{}")]).await.is_err(), "an outage is told as one");
    broker.start_again();
    site.catches_up("the broker that was killed is caught up with").await;

    broker.kill();
    broker.start_again();
    site.catches_up("a restart is caught up with").await;
    let (outbox, handler, written) = (site.outbox.clone(), site.handler.clone(), site.written.clone());
    assert!(site.supervisor.shutdown(PATIENCE).await.aborted.is_empty());

    let written = written.load(Ordering::SeqCst);
    assert_eq!(outbox.buried(), 0, "nothing goes to the dead letters");
    assert_eq!(outbox.attempts_counted(), 1, "a broker that is away is not the message's failure");
    assert_eq!(log.dead_letters().count().await.unwrap(), 0);
    for rung in ["5s", "1m"] {
        let climbed = log.lag(&GroupId::new("nobody"), &[format!("{TOPIC}.readers.retry.{rung}")]).await.unwrap();
        assert_eq!(climbed, 0, "nothing climbed the ladder");
    }
    let doubled: usize = handler.0.lock().unwrap().values().map(|times| times - 1).sum();
    println!("{written} rows written through three outages, {doubled} deliveries doubled and harmless");
    assert!(log.close(PATIENCE).await, "every member left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_holds_up_neither_a_commit_nor_the_end() {
    let mut broker = Broker::start().await;
    let log = KafkaLog::connect(options(&broker.bootstrap())).await.unwrap();
    log.publish(&[message(1, "a", "{}"), message(2, "a", "{}")]).await.unwrap();
    let mut reader = log.subscribe(&GroupId::new("readers"), &[TOPIC.to_owned()]).await.unwrap();
    let mut came = Vec::new();
    while came.is_empty() {
        if let Polled::Deliveries(more) = reader.poll(1, PATIENCE).await.unwrap() {
            came = more;
        }
    }
    broker.kill();
    let asked = Instant::now();
    for _ in 0..3 {
        assert!(reader.commit(&[came[0].position.clone()]).await.is_err(), "an outage, said in time");
    }
    assert!(asked.elapsed() < Duration::from_secs(30), "only the first waits");
    drop(reader);
    let left = Instant::now();
    assert!(log.close(PATIENCE).await && left.elapsed() < Duration::from_secs(30), "after {:?}", left.elapsed());
    println!("a commit refused three times and a member ended without a broker in {:?}", asked.elapsed());
}
