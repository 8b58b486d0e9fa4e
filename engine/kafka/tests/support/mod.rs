//! A log of its own for each test, on a broker that is shared, and what the tests send through it.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod broker;
pub(crate) mod outbox;

use std::time::Duration;

use bytes::Bytes;
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_kernel::{Clock, EventId, Id, SHARDS, ShardId, SystemClock};
use madang_messaging::{Backoff, Message};
pub(crate) use madang_test_servers::kafka as bootstrap;

/// Far longer than anything here takes, also on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Options for topics and groups that nobody else has.
pub(crate) fn options(bootstrap: &str) -> KafkaOptions {
    let prefix = format!("t{:016x}-", rand::random::<u64>());
    let topics = TOPICS.map(str::to_owned).to_vec();
    KafkaOptions { prefix, topics, partitions: 4, ..KafkaOptions::new("test", bootstrap) }
}

/// A log with nothing in it.
pub(crate) async fn fresh() -> (KafkaLog, KafkaOptions) {
    let options = options(&bootstrap());
    (KafkaLog::connect(options.clone()).await.unwrap(), options)
}

pub(crate) const TOPIC: &str = "test.thing.v1";
/// The topics that the program of these tests names.
pub(crate) const TOPICS: [&str; 3] = ["test.order.v1", "test.parcel.v1", "test.refund.v1"];

pub(crate) fn message(number: i64, key: &str, payload: impl Into<Bytes>) -> Message {
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

/// Waits for the observable, with a bound.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    let wait = async {
        while !holds().await {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Tries again at once, as far as a test is concerned.
pub(crate) const AT_ONCE: Backoff = Backoff { base_ms: 1, cap_ms: 5 };
