//! Topics, keys and what a broker will not take.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bytes::Bytes;
use madang_engine_kafka::{ConnectError, KafkaLog, KafkaOptions, MESSAGE_MAX_BYTES};
use madang_messaging::{ConsumerConfig, Delivery, EventLog, GroupId, Message, Polled, PublishOutcome, Subscription};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use support::{PATIENCE, TOPIC, TOPICS, bootstrap, fresh, message, options};
use tokio::time::Instant;

async fn take(reader: &mut dyn Subscription, count: usize) -> Vec<Delivery> {
    let deadline = Instant::now() + PATIENCE;
    let mut taken = Vec::new();
    while taken.len() < count {
        assert!(Instant::now() < deadline, "{} of {count} messages came", taken.len());
        if let Polled::Deliveries(more) = reader.poll(count - taken.len(), Duration::from_secs(1)).await.unwrap() {
            taken.extend(more);
        }
    }
    taken
}

/// Partitions of every topic of this program.
fn on_the_broker(options: &KafkaOptions) -> BTreeMap<String, usize> {
    let client: BaseConsumer = ClientConfig::new().set("bootstrap.servers", &options.bootstrap).create().unwrap();
    let metadata = client.fetch_metadata(None, PATIENCE).unwrap();
    let ours = metadata.topics().iter().filter_map(|topic| {
        topic.name().strip_prefix(&options.prefix).map(|name| (name.to_owned(), topic.partitions().len()))
    });
    ours.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_topic_of_the_program_and_of_a_group_is_there_before_it_is_needed() {
    let (log, options) = fresh().await;
    let topics = TOPICS[..2].iter().map(|&topic| topic.to_owned()).collect();
    let config = ConsumerConfig::new(GroupId::new("packers"), topics);
    log.prepare(std::slice::from_ref(&config)).await.unwrap();
    let present = on_the_broker(&options);
    for topic in TOPICS {
        assert_eq!(present[topic], 4, "equal partition counts keep what has one key together");
    }
    for start in ["test.order.v1.packers", "test.parcel.v1.packers"] {
        assert_eq!(present[&format!("{start}.retry.5s")], 4);
        assert_eq!(present[&format!("{start}.retry.1m")], 4);
        assert_eq!(present[&format!("{start}.dlq")], 1);
    }
    assert_eq!(present.len(), 3 + 6, "and nothing else: {present:?}");
    log.prepare(std::slice::from_ref(&config)).await.unwrap();
    assert_eq!(on_the_broker(&options), present, "asked twice, made once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_with_another_number_of_partitions_is_left_alone_and_the_start_refused() {
    let (_, options) = fresh().await;
    let other = KafkaOptions { partitions: 6, ..options.clone() };
    let refused = KafkaLog::connect(other).await.err().unwrap();
    assert!(matches!(refused, ConnectError::Partitions { found: 4, wanted: 6, .. }), "{refused}");
    assert!(refused.to_string().contains("4 partitions, but 6 are configured"), "{refused}");
    assert!(on_the_broker(&options).values().all(|partitions| *partitions == 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_start_at_once_make_the_topics_once() {
    let options = options(&bootstrap());
    let (one, other) = tokio::join!(KafkaLog::connect(options.clone()), KafkaLog::connect(options.clone()));
    assert!(one.is_ok() && other.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_not_there_is_an_outage_and_not_a_refusal() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = KafkaLog::connect(options(&nobody.to_string())).await.err().unwrap();
    assert!(matches!(refused, ConnectError::Outage(_)), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_too_large_is_refused_alone() {
    let (log, _) = fresh().await;
    let large = |bytes: usize| Bytes::from(vec![b'x'; bytes]);
    let batch = [
        message(1, "a", "{}"),
        message(2, "a", large(MESSAGE_MAX_BYTES + 1)),
        message(3, "a", large(MESSAGE_MAX_BYTES)),
    ];
    let outcomes = log.publish(&batch).await.unwrap();
    assert!(matches!(&outcomes[1], PublishOutcome::Rejected(reason) if reason.contains("bytes")));
    assert_eq!((&outcomes[0], &outcomes[2]), (&PublishOutcome::Published, &PublishOutcome::Published));
    let mut reader = log.subscribe(&GroupId::new("readers"), &[TOPIC.to_owned()]).await.unwrap();
    let came = take(&mut *reader, 2).await;
    assert_eq!(came[1].message.payload.len(), MESSAGE_MAX_BYTES, "the largest passes whole");
    // On the ladder it carries a reason as well, and still passes.
    let mut climbing = Message { topic: format!("{TOPIC}.readers.dlq"), ..batch[2].clone() };
    climbing.set_header("reason", "r".repeat(500));
    assert_eq!(log.publish(&[climbing]).await.unwrap(), [PublishOutcome::Published]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_larger_than_the_broker_takes_is_refused_by_the_broker() {
    let (log, _) = fresh().await;
    let mut heavy = message(1, "a", "{}");
    heavy.set_header("heavy", "h".repeat(MESSAGE_MAX_BYTES + (1 << 20)));
    let outcomes = log.publish(&[heavy, message(2, "a", "{}")]).await.unwrap();
    assert!(matches!(outcomes[..], [PublishOutcome::Rejected(_), PublishOutcome::Published]), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_what_cannot_be_a_topic_is_refused_alone() {
    let (log, _) = fresh().await;
    let lost = Message { topic: "not a\0topic".to_owned(), ..message(1, "a", "{}") };
    let outcomes = log.publish(&[lost, message(2, "a", "{}")]).await.unwrap();
    assert!(matches!(outcomes[..], [PublishOutcome::Rejected(_), PublishOutcome::Published]), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_spread_evenly_and_lie_in_the_same_partition_of_every_topic() {
    const KEYS: u64 = 12_000;
    let options = KafkaOptions { partitions: 12, ..options(&bootstrap()) };
    let log = KafkaLog::connect(options).await.unwrap();
    // Ids as one writer makes them: one shard, one node, a few a millisecond.
    let id = |n: u64| ((50_000_000_000 + n / 3) << 22) | (17 << 16) | (n % 3);
    let topics = [TOPICS[0], TOPICS[1]].map(str::to_owned);
    for topic in &topics {
        let of = |n| Message { topic: topic.clone(), ..message(n as i64 + 1, &id(n).to_string(), "{}") };
        for start in (0..KEYS).step_by(2_000) {
            log.publish(&(start..start + 2_000).map(of).collect::<Vec<_>>()).await.unwrap();
        }
    }
    let mut reader = log.subscribe(&GroupId::new("readers"), &topics).await.unwrap();
    let mut spread: BTreeMap<u32, usize> = BTreeMap::new();
    let mut place: HashMap<String, u32> = HashMap::new();
    for Delivery { position, message } in take(&mut *reader, 2 * KEYS as usize).await {
        *spread.entry(position.partition).or_default() += 1;
        assert_eq!(*place.entry(message.key).or_insert(position.partition), position.partition);
    }
    println!("{KEYS} keys of one shard over 12 partitions, both topics together: {:?}", spread.values());
    let even = 2 * KEYS as usize / 12;
    assert_eq!(spread.len(), 12);
    assert!(spread.values().all(|count| count.abs_diff(even) * 10 < even * 2), "within a fifth of even: {spread:?}");
}
