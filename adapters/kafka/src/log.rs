//! The event log port on Kafka.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_event::Topic;
use madang_messaging::consumer::ladder::dlq_topic;
use madang_messaging::{ConsumerConfig, EventLog, GroupId, Message, Outage, PublishOutcome, Subscription};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tokio::sync::watch;

use crate::errors::{away, blocking};
use crate::names::{Names, is_topic};
use crate::producer::Producer;
use crate::subscription::KafkaSubscription;
use crate::topics::Topics;
use crate::{ConnectError, KafkaDeadLetters, KafkaOptions};

/// How long a broker may take to answer about offsets, in milliseconds.
const OFFSETS_TIMEOUT_MS: u64 = 5_000;

/// The log. Clones share one producer and one connection for topics; each subscription has a connection of its own.
#[derive(Clone)]
pub struct KafkaLog {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) options: KafkaOptions,
    pub(crate) names: Names,
    pub(crate) topics: Topics,
    pub(crate) producer: Producer,
    /// Each member of a group holds a receiver until it has left.
    members: watch::Sender<()>,
}

impl KafkaLog {
    /// Connects, and makes the topics of the site where they are absent.
    pub async fn connect(options: KafkaOptions) -> Result<Self, ConnectError> {
        options.check()?;
        let inner = Inner {
            names: Names::new(&options.prefix),
            topics: Topics::new(&options)?,
            producer: Producer::new(&options)?,
            members: watch::Sender::new(()),
            options,
        };
        inner.topics.ensure(Topic::ALL.map(Topic::name)).await?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Makes the topics of a group where they are absent: what it reads, its ladder, its dead letters.
    pub async fn prepare(&self, consumer: &ConsumerConfig) -> Result<(), ConnectError> {
        let read = consumer.lanes().into_iter().flat_map(|lane| lane.topics);
        let dead = consumer.topics.iter().map(|topic| dlq_topic(topic, &consumer.group));
        let topics: Vec<String> = read.chain(dead).collect();
        self.inner.topics.ensure(topics.iter().map(String::as_str)).await
    }

    /// The dead letters of every group.
    pub fn dead_letters(&self) -> KafkaDeadLetters {
        KafkaDeadLetters::new(self.inner.clone())
    }

    /// How many messages of these topics the group has not stored as done.
    pub async fn lag(&self, group: &GroupId, topics: &[String]) -> Result<u64, Outage> {
        let mut partitions = TopicPartitionList::new();
        for topic in topics {
            partitions.add_partition_range(&self.inner.names.topic(topic), 0, self.inner.options.partitions as i32 - 1);
        }
        let config = self.inner.options.reader(&self.inner.names.group(group, topics));
        blocking(move || {
            let timeout = Duration::from_millis(OFFSETS_TIMEOUT_MS);
            let reader: BaseConsumer = config.create().map_err(away)?;
            let stored = reader.committed_offsets(partitions, timeout).map_err(away)?;
            let mut lag = 0;
            for element in stored.elements() {
                let watermarks = reader.fetch_watermarks(element.topic(), element.partition(), timeout);
                let (oldest, head) = watermarks.map_err(away)?;
                let next = if let Offset::Offset(offset) = element.offset() { offset } else { oldest };
                lag += u64::try_from(head.saturating_sub(next)).unwrap_or(0);
            }
            Ok(lag)
        })
        .await
    }

    /// Waits until what is published is on the broker and every dropped subscription has left its group, or has given up
    /// because no broker answers; false when that took longer than `timeout`. A process that exits before costs its groups
    /// a session time-out.
    pub async fn close(&self, timeout: Duration) -> bool {
        let flushed = self.inner.producer.flush(timeout).await.is_ok();
        flushed && tokio::time::timeout(timeout, self.inner.members.closed()).await.is_ok()
    }
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
        let alive = self.inner.members.subscribe();
        Ok(Box::new(KafkaSubscription::join(&self.inner.options, &named, topics, alive)?))
    }
}
