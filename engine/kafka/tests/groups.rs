//! Groups on Kafka: partitions change hands without a loss, and only when nothing of them is in hand.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use madang_engine_kafka::KafkaLog;
use madang_kernel::{Id, SystemClock};
use madang_messaging::{
    Consumer, ConsumerConfig, Delivery, EventLog, GroupId, Handled, Handler, HandlerError, Message, OnError, Outage,
    Polled, Position, Subscription, Supervisor,
};
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use support::{PATIENCE, TOPIC, eventually, fresh, message};
use tokio::time::Instant;

async fn publish(log: &KafkaLog, messages: &[Message]) {
    for batch in messages.chunks(1_000) {
        log.publish(batch).await.unwrap();
    }
}

async fn join(log: &KafkaLog) -> Box<dyn Subscription> {
    log.subscribe(&GroupId::new("readers"), &[TOPIC.to_owned()]).await.unwrap()
}

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

/// The last position of each partition.
fn last(deliveries: &[Delivery]) -> Vec<Position> {
    let mut last: BTreeMap<u32, Position> = BTreeMap::new();
    for Delivery { position, .. } in deliveries {
        last.insert(position.partition, position.clone());
    }
    last.into_values().collect()
}

fn numbers(deliveries: &[Delivery]) -> BTreeSet<i64> {
    deliveries.iter().map(|delivery| delivery.message.event_id.raw()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_is_given_away_only_when_nothing_of_it_is_in_hand() {
    let (log, _) = fresh().await;
    publish(&log, &(1..=100).map(|n| message(n, &format!("key-{n}"), "{}")).collect::<Vec<_>>()).await;
    let mut first = join(&log).await;
    let in_hand = take(&mut *first, 100).await;

    let mut second = join(&log).await;
    let deadline = Instant::now() + PATIENCE;
    let revoked = loop {
        assert!(Instant::now() < deadline, "the second member never got a share");
        match first.poll(10, Duration::from_millis(100)).await.unwrap() {
            Polled::Revoked(partitions) => break partitions,
            other => assert_eq!(other, Polled::Deliveries(Vec::new())),
        }
        let early = second.poll(10, Duration::from_millis(1)).await.unwrap();
        assert_eq!(early, Polled::Deliveries(Vec::new()), "nothing was given away yet");
    };
    assert!(!revoked.is_empty() && revoked.len() < 4, "a share, not everything: {revoked:?}");

    // The work goes on for a while, and the one who waits gets nothing of it.
    let early = second.poll(10, Duration::from_secs(2)).await.unwrap();
    assert_eq!(early, Polled::Deliveries(Vec::new()), "still in hand");
    first.commit(&last(&in_hand)).await.unwrap();
    let next = (101..=200).map(|n| message(n, &format!("key-{}", n - 100), "{}")).collect::<Vec<_>>();
    publish(&log, &next).await;

    let (mut came, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    while came.len() < 100 {
        assert!(Instant::now() < deadline, "{} of 100 messages came", came.len());
        for (name, reader) in [("first", &mut first), ("second", &mut second)] {
            match reader.poll(50, Duration::from_millis(50)).await.unwrap() {
                Polled::Deliveries(more) => {
                    let given =
                        |delivery: &Delivery| revoked.contains(&(TOPIC.to_owned(), delivery.position.partition));
                    assert!(more.iter().all(|delivery| given(delivery) == (name == "second")), "each reads its own");
                    came.extend(more);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(numbers(&came), (101..=200).collect(), "what was stored before the hand-over did not come again");
}

/// Remembers what it applied, and how often.
#[derive(Default)]
struct Remembering {
    applied: Mutex<HashMap<i64, usize>>,
}

impl Remembering {
    fn distinct(&self) -> usize {
        self.applied.lock().unwrap().len()
    }
}

/// One instance, which knows how much of it was its own.
struct Instance {
    all: Arc<Remembering>,
    own: Arc<AtomicUsize>,
}

#[async_trait]
impl Handler for Instance {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        // Work that takes a moment, so that rebalances find something in hand.
        tokio::time::sleep(Duration::from_millis(3)).await;
        let mut applied = self.all.applied.lock().unwrap();
        for delivery in deliveries {
            *applied.entry(delivery.message.event_id.raw()).or_default() += 1;
        }
        self.own.fetch_add(deliveries.len(), Ordering::SeqCst);
        deliveries.iter().map(|_| Ok(Handled::Done)).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rebalances_in_the_middle_of_batches_lose_nothing_and_double_little() {
    let (log, _) = fresh().await;
    let all = Arc::new(Remembering::default());
    let start = |name: &'static str| {
        let (supervisor, own) = (Supervisor::new(name), Arc::new(AtomicUsize::new(0)));
        let mut config = ConsumerConfig::new(GroupId::new("readers"), vec![TOPIC.to_owned()]);
        config.batch_max = 50;
        let handler = Arc::new(Instance { all: all.clone(), own: own.clone() });
        let consumer = Consumer::new(config, Arc::new(log.clone()), handler, Arc::new(SystemClock));
        supervisor.spawn(name, OnError::Restart, move |stop| consumer.clone().run(stop));
        (supervisor, own)
    };
    // Stays a little ahead of the readers, for as long as partitions change hands.
    let (writer, sent) = (Supervisor::new("writer"), Arc::new(AtomicUsize::new(0)));
    let (written, into, read) = (sent.clone(), log.clone(), all.clone());
    writer.spawn("writer", OnError::Stop, move |stop| {
        let (written, into, read) = (written.clone(), into.clone(), read.clone());
        async move {
            while !stop.is_cancelled() {
                let from = written.load(Ordering::SeqCst) as i64;
                if from > read.distinct() as i64 + 5_000 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                }
                let batch: Vec<_> =
                    (from + 1..=from + 200).map(|n| message(n, &format!("key-{}", n % 997), "{}")).collect();
                into.publish(&batch).await?;
                written.fetch_add(batch.len(), Ordering::SeqCst);
            }
            Ok::<(), Outage>(())
        }
    });
    let (first, first_own) = start("first");
    eventually("the first works", || async { all.distinct() > 1_000 }).await;
    let (second, second_own) = start("second");
    eventually("the second got a share", || async { second_own.load(Ordering::SeqCst) > 500 }).await;
    let (third, third_own) = start("third");
    eventually("the third got a share", || async { third_own.load(Ordering::SeqCst) > 500 }).await;
    assert!(second.shutdown(PATIENCE).await.aborted.is_empty());
    let (first_then, third_then) = (first_own.load(Ordering::SeqCst), third_own.load(Ordering::SeqCst));
    let both = || async {
        first_own.load(Ordering::SeqCst) > first_then + 1_000 && third_own.load(Ordering::SeqCst) > third_then + 1_000
    };
    eventually("the others took over", both).await;
    assert!(writer.shutdown(PATIENCE).await.aborted.is_empty());
    let sent = sent.load(Ordering::SeqCst);
    eventually("everything is applied", || async { all.distinct() == sent }).await;
    assert!(first.shutdown(PATIENCE).await.aborted.is_empty());
    assert!(third.shutdown(PATIENCE).await.aborted.is_empty());
    assert!(log.close(PATIENCE).await, "every member left");

    let doubled: usize = all.applied.lock().unwrap().values().map(|times| times - 1).sum();
    let shares = [&first_own, &second_own, &third_own].map(|own| own.load(Ordering::SeqCst));
    println!("{sent} messages over {shares:?} members that came and went, {doubled} of them applied twice");
    assert!(doubled <= 300, "drained before it is given away: {doubled} doubled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_whose_place_was_trimmed_hears_that_it_fell_behind_and_goes_on_at_the_head() {
    let (log, options) = fresh().await;
    publish(&log, &(1..=20).map(|n| message(n, "one", "{}")).collect::<Vec<_>>()).await;
    let mut reader = join(&log).await;
    let came = take(&mut *reader, 20).await;
    reader.commit(&last(&came[..5])).await.unwrap();
    drop(reader);

    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", &options.bootstrap).create().unwrap();
    let (topic, at) = (format!("{}{TOPIC}", options.prefix), &came[14].position);
    let mut trimmed = TopicPartitionList::new();
    trimmed.add_partition_offset(&topic, at.partition as i32, Offset::Offset(at.offset)).unwrap();
    admin.delete_records(&trimmed, &AdminOptions::new()).await.unwrap();

    let mut reader = join(&log).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "it never heard");
        match reader.poll(10, Duration::from_millis(500)).await.unwrap() {
            Polled::FellBehind => break,
            other => assert_eq!(other, Polled::Deliveries(Vec::new())),
        }
    }
    publish(&log, &[message(21, "one", "{}")]).await;
    let came = take(&mut *reader, 1).await;
    assert_eq!(numbers(&came), BTreeSet::from([21]));
    reader.commit(&last(&came)).await.unwrap();
    drop(reader);
    publish(&log, &[message(22, "one", "{}")]).await;
    assert_eq!(numbers(&take(&mut *join(&log).await, 1).await), BTreeSet::from([22]), "and it is in place again");
}

#[tokio::test(flavor = "multi_thread")]
async fn lag_is_what_a_group_has_not_stored() {
    let (log, _) = fresh().await;
    let (group, topics) = (GroupId::new("readers"), [TOPIC.to_owned()]);
    publish(&log, &(1..=30).map(|n| message(n, &format!("key-{n}"), "{}")).collect::<Vec<_>>()).await;
    assert_eq!(log.lag(&group, &topics).await.unwrap(), 30);
    let mut reader = join(&log).await;
    let came = take(&mut *reader, 30).await;
    assert_eq!(log.lag(&group, &topics).await.unwrap(), 30, "polled is not done");
    reader.commit(&last(&came)).await.unwrap();
    assert_eq!(log.lag(&group, &topics).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_come_and_go_at_any_moment_all_leave() {
    let (log, _) = fresh().await;
    let messages: Vec<_> = (1..=40).map(|n| message(n, &format!("key-{n}"), "{}")).collect();
    publish(&log, &messages).await;
    let mut polite = join(&log).await;
    for turn in 0..12_u64 {
        let mut passing = join(&log).await;
        // Gone before it joined, while it joins, and after.
        let _ = passing.poll(5, Duration::from_millis(turn * 60)).await;
        drop(passing);
        let _ = polite.poll(5, Duration::from_millis(20)).await;
    }
    drop(polite);
    assert!(log.close(PATIENCE).await, "every member left");
    assert_eq!(
        numbers(&take(&mut *join(&log).await, 40).await),
        (1..=40).collect(),
        "nothing was stored, nothing lost"
    );
}
