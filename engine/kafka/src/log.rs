//! The event log port on Kafka.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_messaging::consumer::ladder::dlq_topic;
use madang_messaging::{ConsumerConfig, EventLog, GroupId, Message, Outage, Position, PublishOutcome, Subscription};
use tokio::sync::watch;

use crate::names::{Names, is_topic};
use crate::producer::Producer;
use crate::readers::Readers;
use crate::subscription::{Follows, KafkaSubscription};
use crate::topics::{Topics, count_on_wire};
use crate::{ConnectError, KafkaDeadLetters, KafkaOptions};

/// The log. Clones share one producer and one connection for topics; each subscription has a connection of its own.
#[derive(Clone)]
pub struct KafkaLog {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) options: KafkaOptions,
    pub(crate) names: Names,
    pub(crate) topics: Topics,
    pub(crate) producer: Producer,
    /// Who asks brokers about offsets.
    readers: Readers,
    /// Each member of a group holds a receiver until it has left.
    members: watch::Sender<()>,
    /// Topics that were made again after somebody deleted them, by the broker's names, in the order in which that happened.
    restored: watch::Sender<Vec<String>>,
}

impl KafkaLog {
    /// Opens the log, and makes the program's topics where they are absent.
    pub async fn connect(options: KafkaOptions) -> Result<Self, ConnectError> {
        let log = Self::open(options)?;
        log.prepare(&[]).await?;
        Ok(log)
    }

    /// The log without asking a broker: who publishes or joins while none answers is told of an outage.
    pub fn open(options: KafkaOptions) -> Result<Self, ConnectError> {
        options.check()?;
        let inner = Inner {
            names: Names::new(&options),
            topics: Topics::new(&options)?,
            producer: Producer::new(&options)?,
            readers: Readers::default(),
            members: watch::Sender::new(()),
            restored: watch::Sender::new(Vec::new()),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Asks a broker for what every client asks first.
    pub async fn ping(&self) -> Result<(), Outage> {
        self.inner.topics.ping().await
    }

    /// Makes the program's topics and those of these groups where they are absent: what a group reads, its ladder, its dead
    /// letters. All by one request: a broker makes many topics in hardly more time than one.
    pub async fn prepare(&self, consumers: &[ConsumerConfig]) -> Result<(), ConnectError> {
        self.inner.topics.ensure(self.topics_of(consumers).iter().map(String::as_str)).await
    }

    /// Makes those of the same topics again that were there and are not any more, because somebody deleted them, and has the
    /// subscriptions of this log begin at their beginning; tells which. To be called every few seconds, in every process as
    /// often: a topic is made again by the second call that misses it. What was in it is lost to groups that had not read it.
    pub async fn restore(&self, consumers: &[ConsumerConfig]) -> Result<Vec<String>, ConnectError> {
        let restored = self.inner.topics.restore(&self.topics_of(consumers)).await?;
        if !restored.is_empty() {
            self.inner.restored.send_modify(|all| all.extend(restored.iter().cloned()));
        }
        Ok(restored)
    }

    fn topics_of(&self, consumers: &[ConsumerConfig]) -> Vec<String> {
        let of_groups = consumers.iter().flat_map(|consumer| {
            let read = consumer.levels().into_iter().flat_map(|level| level.topics);
            let dead = consumer.topics.iter().map(|topic| dlq_topic(topic, &consumer.group));
            read.chain(dead).collect::<Vec<String>>()
        });
        let mut topics: Vec<String> = self.inner.options.topics.iter().cloned().chain(of_groups).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    /// The dead letters of every group.
    pub fn dead_letters(&self) -> KafkaDeadLetters {
        KafkaDeadLetters::new(self.inner.clone())
    }

    /// How many messages of these topics the group has not stored as done.
    pub async fn lag(&self, group: &GroupId, topics: &[String]) -> Result<u64, Outage> {
        let (ends, stored) = (self.ends(topics).await?, self.stored(group, topics).await?);
        let next =
            |end: &Position| stored.iter().find(|stored| is_same_partition(stored, end)).map(|stored| stored.offset);
        let behind = ends.iter().map(|end| end.offset.saturating_sub(next(end).unwrap_or(0)));
        Ok(behind.map(|behind| u64::try_from(behind).unwrap_or(0)).sum())
    }

    /// Where these topics end now: the next offset of each partition.
    pub async fn ends(&self, topics: &[String]) -> Result<Vec<Position>, Outage> {
        let (options, named) = (&self.inner.options, self.inner.names.end_reader());
        let ends = self.inner.readers.ends(options, named, self.on_broker(topics)).await?;
        Ok(self.positions(topics, ends))
    }

    /// Whether a group has stored as done everything before these ends of its topics.
    pub async fn has_passed(&self, group: &GroupId, topics: &[String], ends: &[Position]) -> Result<bool, Outage> {
        let stored = self.stored(group, topics).await?;
        let passed = |end: &Position| {
            end.offset == 0 || stored.iter().any(|stored| is_same_partition(stored, end) && stored.offset >= end.offset)
        };
        Ok(ends.iter().all(passed))
    }

    /// The next offset of each partition that a group will read; the oldest where it has stored nothing.
    async fn stored(&self, group: &GroupId, topics: &[String]) -> Result<Vec<Position>, Outage> {
        let named = self.inner.names.group(group, topics);
        let stored = self.inner.readers.stored(&self.inner.options, named, self.on_broker(topics)).await?;
        Ok(self.positions(topics, stored))
    }

    fn partitions(&self, topics: &[String]) -> impl Iterator<Item = (String, i32)> {
        let count = count_on_wire(self.inner.options.partitions);
        topics.iter().flat_map(move |topic| (0..count).map(move |partition| (topic.clone(), partition)))
    }

    /// The partitions of these topics by the broker's names.
    fn on_broker(&self, topics: &[String]) -> Vec<(String, i32)> {
        self.partitions(topics).map(|(topic, partition)| (self.inner.names.topic(&topic), partition)).collect()
    }

    /// Offsets that were told in the order of the partitions.
    fn positions(&self, topics: &[String], offsets: Vec<i64>) -> Vec<Position> {
        let position = |((topic, partition), offset): ((String, i32), i64)| Position {
            topic,
            partition: partition.unsigned_abs(),
            offset,
        };
        self.partitions(topics).zip(offsets).map(position).collect()
    }

    /// Waits until what is published is on the broker and every dropped subscription has left its group, or has given up
    /// because no broker answers; false when that took longer than `timeout`. A process that exits before costs its groups
    /// a session time-out.
    pub async fn close(&self, timeout: Duration) -> bool {
        let flushed = self.inner.producer.flush(timeout).await.is_ok();
        flushed && tokio::time::timeout(timeout, self.inner.members.closed()).await.is_ok()
    }
}

fn is_same_partition(one: &Position, other: &Position) -> bool {
    one.topic == other.topic && one.partition == other.partition
}

#[async_trait]
impl EventLog for KafkaLog {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let topics = messages.iter().map(|message| message.topic.as_str());
        // What cannot be a topic is refused with its message, and holds up no other.
        self.inner.topics.ensure(topics.filter(|topic| is_topic(&self.inner.names.topic(topic)))).await?;
        self.inner.producer.publish(messages).await
    }

    async fn subscribe(&self, group: &GroupId, topics: &[String]) -> Result<Box<dyn Subscription>, Outage> {
        self.inner.topics.ensure(topics.iter().map(String::as_str)).await?;
        let named = self.inner.names.group(group, topics);
        let follows = Follows { alive: self.inner.members.subscribe(), restored: self.inner.restored.subscribe() };
        Ok(Box::new(KafkaSubscription::join(&self.inner.options, &named, topics, follows)?))
    }
}
