//! Kafka's half of a round: followers freeze, records are acknowledged, the leader is killed, and a follower takes over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext, Message as _, Offset, TopicPartitionList};

use crate::Stack;

/// Records sent while the followers work, up to the moment in which they freeze.
const RECORDS_BEFORE: u64 = 200;
/// Between two tens of them.
const BETWEEN: Duration = Duration::from_millis(10);
/// Records sent while the followers are frozen.
const RECORDS: u64 = 200;
/// In-sync replicas that a write to either topic needs; one that asks for the leader's word alone is not held to it.
const MIN_INSYNC: &str = "2";
/// Of the records that the leader has for itself, so many at least are acknowledged before it is killed.
const AT_RISK_MIN: u64 = RECORDS / 2;
/// How long the leader has them for itself.
const ALONE: Duration = Duration::from_millis(800);
/// How long any answer of a broker may take.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long a change of leaders, or the return of a broker, may take.
const FAILOVER_MAX: Duration = Duration::from_secs(120);

/// What one producer was told, and what was there afterwards.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    /// Records that the old leader had acknowledged when it was killed: what could be lost with it.
    pub(super) at_risk: u64,
    /// Those of them that are gone.
    pub(super) lost: u64,
    /// Records that the new leader acknowledged.
    pub(super) acknowledged_later: u64,
    /// Those of them that are gone.
    pub(super) lost_later: u64,
    pub(super) doubled: u64,
}

/// When what happened, for the picture.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    pub(super) leader: i32,
    pub(super) began: Instant,
    pub(super) killed: Instant,
    /// When the producer that waits for all was told of its last record.
    pub(super) acknowledged: Instant,
}

/// A topic with a producer.
struct Topic {
    name: String,
    producer: ThreadedProducer<Acknowledged>,
    /// What was acknowledged when the leader was killed.
    at_kill: Mutex<BTreeSet<u64>>,
}

/// Collects the numbers of records that were acknowledged.
#[derive(Clone, Default)]
struct Acknowledged(Arc<Mutex<BTreeSet<u64>>>);

impl ClientContext for Acknowledged {
    // Brokers that are away are what this is about.
    fn log(&self, _: rdkafka::config::RDKafkaLogLevel, _: &str, _: &str) {}
    fn error(&self, _: rdkafka::error::KafkaError, _: &str) {}
}

impl ProducerContext for Acknowledged {
    type DeliveryOpaque = Box<u64>;

    fn delivery(&self, result: &DeliveryResult<'_>, number: Box<u64>) {
        if result.is_ok() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(*number);
        }
    }
}

impl Acknowledged {
    fn numbers(&self) -> BTreeSet<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Lets frozen servers go on, whatever happens.
struct Frozen<'a> {
    stack: &'a Stack,
    names: Vec<String>,
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = self.stack.thaw(name);
        }
    }
}

/// Both producers, each with a topic of its own whose leader is the broker that will be killed.
pub(super) struct Round<'a> {
    stack: &'a Stack,
    brokers: String,
    leader: i32,
    naive: Topic,
    protected: Topic,
}

impl<'a> Round<'a> {
    /// Makes both topics, with three copies, led by this broker.
    pub(super) async fn prepare(stack: &'a Stack, leader: i32, round: u64) -> anyhow::Result<Self> {
        let brokers = stack.kafka()?;
        let run = rand::random::<u32>();
        let naive = Topic {
            name: format!("lab.acks.{run:08x}.{round}.one"),
            producer: super::naive::producer(&brokers).create_with_context(Acknowledged::default())?,
            at_kill: Mutex::default(),
        };
        let protected = Topic {
            name: format!("lab.acks.{run:08x}.{round}.all"),
            producer: super::protected::producer(&brokers).create_with_context(Acknowledged::default())?,
            at_kill: Mutex::default(),
        };
        make(&brokers, &naive.name, leader, MIN_INSYNC).await?;
        make(&brokers, &protected.name, leader, MIN_INSYNC).await?;
        let round = Self { stack, brokers, leader, naive, protected };
        round.wait_until_whole().await?;
        Ok(round)
    }

    /// Waits until both topics have their leader and three in-sync replicas.
    pub(super) async fn wait_until_whole(&self) -> anyhow::Result<()> {
        let until = Instant::now() + FAILOVER_MAX;
        loop {
            let mut is_whole = true;
            for topic in [&self.naive.name, &self.protected.name] {
                is_whole &= matches!(in_sync(&self.brokers, topic).await, Ok((0.., 3)));
            }
            if is_whole {
                return Ok(());
            }
            ensure!(Instant::now() < until, "the topics never had three in-sync replicas");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Freezes the followers, sends, kills the leader, lets the followers go on, and waits for the new one.
    pub(super) async fn fail_over(&self) -> anyhow::Result<Moments> {
        // Connections, producer ids and partition leaders are known before anything freezes.
        for topic in [&self.naive, &self.protected] {
            topic.send(0..10)?;
            topic.wait_for(10, ANSWER_MAX).await?;
        }
        let (start, end) = (10 + RECORDS_BEFORE, 10 + RECORDS_BEFORE + RECORDS);
        for number in (10..start).step_by(10) {
            for topic in [&self.naive, &self.protected] {
                topic.send(number..number + 10)?;
            }
            tokio::time::sleep(BETWEEN).await;
        }
        let began = Instant::now();
        let followers = (1..=3).filter(|broker| *broker != self.leader).map(name);
        let mut frozen = Frozen { stack: self.stack, names: Vec::new() };
        for follower in followers {
            self.stack.freeze(&follower)?;
            frozen.names.push(follower);
        }
        for number in (start..end).step_by(10) {
            for topic in [&self.naive, &self.protected] {
                topic.send(number..number + 10)?;
            }
            // A follower had asked for records before it froze, and is sent the first of them: the rest come later.
            tokio::time::sleep(ALONE / 20).await;
        }
        // Told, and nowhere else: on a busy machine the leader's word may take its time.
        self.naive.wait_for(start + AT_RISK_MIN, ANSWER_MAX).await?;
        // Looked at before, so that what the next leader acknowledges is not among it.
        for topic in [&self.naive, &self.protected] {
            topic.note_kill();
        }
        self.stack.kill(&name(self.leader))?;
        let killed = Instant::now();
        drop(frozen);
        // What was not acknowledged is sent again, to whoever leads now.
        self.protected.wait_for(end, FAILOVER_MAX).await.context("the new leader took nothing")?;
        let acknowledged = Instant::now();
        self.wait_for_leaders().await?;
        Ok(Moments { leader: self.leader, began, killed, acknowledged })
    }

    async fn wait_for_leaders(&self) -> anyhow::Result<()> {
        let until = Instant::now() + FAILOVER_MAX;
        for topic in [&self.naive.name, &self.protected.name] {
            while !matches!(in_sync(&self.brokers, topic).await, Ok((leader @ 1.., _)) if leader != self.leader) {
                ensure!(Instant::now() < until, "{topic} got no new leader");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }

    /// What is in the log now, against what each producer was told.
    pub(super) async fn kept(&self) -> anyhow::Result<[Kept; 2]> {
        Ok([self.naive.kept(&self.brokers).await?, self.protected.kept(&self.brokers).await?])
    }

    /// Removes both topics.
    pub(super) async fn clean(self) -> anyhow::Result<()> {
        let topics = [self.naive.name.as_str(), self.protected.name.as_str()];
        admin(&self.brokers)?.delete_topics(&topics, &AdminOptions::new()).await?;
        Ok(())
    }
}

fn name(broker: i32) -> String {
    format!("kafka-{broker}")
}

impl Topic {
    fn send(&self, numbers: std::ops::Range<u64>) -> anyhow::Result<()> {
        for number in numbers {
            let payload = number.to_string();
            let record: BaseRecord<'_, (), _, _> =
                BaseRecord::with_opaque_to(&self.name, Box::new(number)).payload(&payload);
            self.producer.send(record).map_err(|(error, _)| error)?;
        }
        Ok(())
    }

    fn note_kill(&self) {
        *self.at_kill.lock().unwrap_or_else(PoisonError::into_inner) = self.producer.context().numbers();
    }

    async fn wait_for(&self, count: u64, limit: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + limit;
        while (self.producer.context().numbers().len() as u64) < count {
            ensure!(Instant::now() < until, "{} of {count} were acknowledged", self.producer.context().numbers().len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn kept(&self, brokers: &str) -> anyhow::Result<Kept> {
        let (brokers, topic) = (brokers.to_owned(), self.name.clone());
        let there = tokio::task::spawn_blocking(move || read_all(&brokers, &topic)).await??;
        let acknowledged = self.producer.context().numbers();
        let at_kill = self.at_kill.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(kept(&at_kill, &acknowledged, &there))
    }
}

fn kept(at_kill: &BTreeSet<u64>, acknowledged: &BTreeSet<u64>, there: &BTreeMap<u64, u64>) -> Kept {
    let gone = |number: &&u64| !there.contains_key(number);
    Kept {
        at_risk: at_kill.len() as u64,
        lost: at_kill.iter().filter(gone).count() as u64,
        acknowledged_later: acknowledged.difference(at_kill).count() as u64,
        lost_later: acknowledged.difference(at_kill).filter(gone).count() as u64,
        doubled: there.values().map(|times| times - 1).sum(),
    }
}

/// How often each record is in the topic.
fn read_all(brokers: &str, topic: &str) -> anyhow::Result<BTreeMap<u64, u64>> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", "lab-acks").set("enable.auto.commit", "false");
    let consumer: BaseConsumer<Acknowledged> = config.create_with_context(Acknowledged::default())?;
    let end = end_of(&consumer, topic)?;
    let mut partitions = TopicPartitionList::new();
    partitions.add_partition_offset(topic, 0, Offset::Beginning)?;
    consumer.assign(&partitions)?;
    let (mut there, until) = (BTreeMap::new(), Instant::now() + FAILOVER_MAX);
    let mut position = 0;
    while position < end {
        ensure!(Instant::now() < until, "{topic} could not be read");
        let Some(polled) = consumer.poll(Duration::from_millis(100)) else { continue };
        // Errors of brokers that are away come by here too.
        let Ok(message) = polled else { continue };
        position = message.offset() + 1;
        let number = message.payload().and_then(|payload| std::str::from_utf8(payload).ok()?.parse().ok());
        *there.entry(number.context("a record that is none of ours")?).or_default() += 1;
    }
    Ok(there)
}

/// Where the topic ends. A leader that has just taken over cannot tell until its followers have caught up with it.
fn end_of(consumer: &BaseConsumer<Acknowledged>, topic: &str) -> anyhow::Result<i64> {
    let until = Instant::now() + FAILOVER_MAX;
    loop {
        match consumer.fetch_watermarks(topic, 0, ANSWER_MAX) {
            Ok((_, end)) => return Ok(end),
            Err(error) if Instant::now() > until => return Err(error.into()),
            Err(error) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::OffsetNotAvailable) => {
                // Nothing is assigned yet: this only lets some time pass, and serves what the client has to report.
                let _ = consumer.poll(Duration::from_millis(50));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

impl rdkafka::consumer::ConsumerContext for Acknowledged {}

/// The leader of a topic's partition, and how many replicas are in sync.
async fn in_sync(brokers: &str, topic: &str) -> anyhow::Result<(i32, usize)> {
    let (admin, topic) = (admin(brokers)?, topic.to_owned());
    let asked = tokio::task::spawn_blocking(move || {
        let metadata = admin.inner().fetch_metadata(Some(&topic), ANSWER_MAX)?;
        let partition = metadata.topics().first().and_then(|topic| topic.partitions().first());
        let partition = partition.context("a topic without a partition")?;
        anyhow::Ok((partition.leader(), partition.isr().len()))
    });
    asked.await?
}

fn admin(brokers: &str) -> anyhow::Result<AdminClient<DefaultClientContext>> {
    Ok(ClientConfig::new().set("bootstrap.servers", brokers).set("log_level", "0").create()?)
}

async fn make(brokers: &str, topic: &str, leader: i32, min_insync: &str) -> anyhow::Result<()> {
    let others: Vec<i32> = (1..=3).filter(|broker| *broker != leader).collect();
    let replicas = [[&[leader][..], &others].concat()];
    let replicas: Vec<&[i32]> = replicas.iter().map(Vec::as_slice).collect();
    let wanted =
        [NewTopic::new(topic, 1, TopicReplication::Variable(&replicas)).set("min.insync.replicas", min_insync)];
    for made in admin(brokers)?.create_topics(&wanted, &AdminOptions::new()).await? {
        made.map_err(|(topic, error)| anyhow::anyhow!("{topic} was not made: {error}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_and_is_not_there_is_lost() {
        let there = BTreeMap::from([(1, 1), (2, 2), (5, 1), (9, 1)]);
        let kept = kept(&BTreeSet::from([1, 2, 3]), &BTreeSet::from([1, 2, 3, 4, 5]), &there);
        assert_eq!((kept.at_risk, kept.lost, kept.doubled), (3, 1, 1));
        assert_eq!((kept.acknowledged_later, kept.lost_later), (2, 1), "what a new leader was given is told apart");
    }
}
