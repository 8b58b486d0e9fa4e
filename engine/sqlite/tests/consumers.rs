//! Consumers on the embedded log: what they did is stored when they end, and when they are paused the log waits for them.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use madang_engine_sqlite::{SqliteLog, SqliteOptions};
use madang_kernel::{Clock, EventId, Id, ShardId, SystemClock};
use madang_messaging::{
    Consumer, ConsumerConfig, ConsumerPause, Delivery, EventLog, GroupId, Handled, Handler, HandlerError, Message,
    OnError, Supervisor,
};
use support::Plain;

const TOPIC: &str = "test.thing.v1";
const PATIENCE: Duration = Duration::from_secs(60);

/// Notes what it is handed.
#[derive(Default)]
struct Noting(Mutex<Vec<i64>>);

impl Noting {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[async_trait]
impl Handler for Noting {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        self.0.lock().unwrap().extend(deliveries.iter().map(|delivery| delivery.message.event_id.raw()));
        vec![Ok(Handled::Done); deliveries.len()]
    }
}

struct Site {
    log: SqliteLog<Plain>,
    handler: Arc<Noting>,
    pause: ConsumerPause,
    _directory: tempfile::TempDir,
}

impl Site {
    fn fresh(commit_interval_ms: u64) -> (Self, Supervisor) {
        let directory = tempfile::tempdir().unwrap();
        let db = support::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock));
        let (log, handler) = (SqliteLog::new(db), Arc::new(Noting::default()));
        let config = ConsumerConfig::new(GroupId::new("things"), vec![TOPIC.to_owned()]);
        let config = ConsumerConfig { commit_interval_ms, ..config };
        let consumer = Consumer::new(config, Arc::new(log.clone()), handler.clone(), Arc::new(SystemClock));
        let (supervisor, pause) = (Supervisor::new("test"), consumer.pause_handle());
        supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
        (Self { log, handler, pause, _directory: directory }, supervisor)
    }

    async fn publish(&self, numbers: std::ops::RangeInclusive<i64>) {
        let message = |number| Message {
            event_id: EventId::from_raw(number),
            topic: TOPIC.to_owned(),
            key: "key".to_owned(),
            shard: ShardId::HOME,
            occurred_at: SystemClock.now(),
            headers: Vec::new(),
            payload: Bytes::from_static(b"{}"),
        };
        self.log.publish(&numbers.map(message).collect::<Vec<_>>()).await.unwrap();
    }

    async fn done(&self) -> i64 {
        let groups = self.log.groups().await.unwrap();
        groups.iter().find(|state| state.topic == TOPIC).map_or(0, |state| state.done)
    }

    async fn behind(&self) -> u64 {
        self.log.lag().await.unwrap().first().map_or(0, |lag| lag.topics.entries)
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_stores_what_was_done_long_before_the_interval_is_over() {
    let (site, supervisor) = Site::fresh(3_600_000);
    for first in (1..=1_000).step_by(10) {
        site.publish(first..=first + 9).await;
    }
    eventually("all are handled", || async { site.handler.count() == 1_000 }).await;
    assert_eq!(site.done().await, 0, "the interval is an hour");
    assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
    assert_eq!(site.done().await, 1_000);
    assert_eq!(*site.handler.0.lock().unwrap(), (1..=1_000).collect::<Vec<_>>(), "each once, in order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_done_is_stored_by_itself_when_nothing_more_comes() {
    let (site, supervisor) = Site::fresh(100);
    site.publish(1..=10).await;
    eventually("it is stored", || async { site.done().await == 10 }).await;
    assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_consumer_lets_the_log_grow_and_catches_up_when_it_is_resumed() {
    let (site, supervisor) = Site::fresh(3_600_000);
    site.publish(1..=10).await;
    eventually("the first are handled", || async { site.handler.count() == 10 }).await;
    site.pause.pause();
    eventually("what was in hand is stored", || async { site.done().await == 10 }).await;
    for first in (11..=1_000).step_by(10) {
        site.publish(first..=first + 9).await;
    }
    assert_eq!((site.handler.count(), site.behind().await), (10, 990));
    site.pause.resume();
    eventually("all are handled", || async { site.handler.count() == 1_000 }).await;
    site.pause.pause();
    eventually("nothing is left", || async { site.behind().await == 0 }).await;
    assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty(), "it stops while paused");
}
