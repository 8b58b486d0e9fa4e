//! Topics are made when they are absent, made again when somebody deleted them, and never changed when they are there.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::error::RDKafkaErrorCode;
use tokio::time::Instant;

use crate::connection::Connection;
use crate::errors::{away, blocking};
use crate::names::{Names, holds_dead_letters};
use crate::options::{KafkaOptions, RECORD_MAX_BYTES};
use crate::{ConnectError, producer};

/// How long a broker may take to answer about topics, in milliseconds.
const ANSWER_TIMEOUT_MS: u64 = 5_000;
/// How long a broker may take to show that it is there, in milliseconds.
const PING_TIMEOUT_MS: u64 = 2_000;
/// How long a new topic may take until it has leaders, in milliseconds.
const LEADERS_TIMEOUT_MS: u64 = 20_000;
/// Between two questions after a new topic, in milliseconds.
const LEADERS_POLL_MS: u64 = 50;
/// Dead letters are few and are listed in the order in which they came, so they need no more.
const DEAD_LETTER_PARTITIONS: u32 = 1;
/// Removed dead letters are forgotten by compaction after this long, in milliseconds.
const DEAD_LETTER_SEGMENT_MS: u64 = 24 * 60 * 60 * 1_000;

/// The topics on the broker.
pub(crate) struct Topics {
    options: KafkaOptions,
    names: Names,
    admin: Arc<AdminClient<Connection>>,
    /// Topics found to be right; none of them is checked again, unless it is gone.
    checked: Mutex<HashSet<String>>,
    /// Topics that were right and were gone at the last look.
    gone: Mutex<BTreeSet<String>>,
}

impl Topics {
    pub(crate) fn new(options: &KafkaOptions) -> Result<Self, ConnectError> {
        let made = options.client().create_with_context(Connection);
        let admin = Arc::new(made.map_err(|error| ConnectError::Options(error.to_string()))?);
        Ok(Self {
            options: options.clone(),
            names: Names::new(options),
            admin,
            checked: Mutex::default(),
            gone: Mutex::default(),
        })
    }

    /// Makes those of these topics (by our names) that are absent, and refuses one with another number of partitions.
    pub(crate) async fn ensure(&self, ours: impl IntoIterator<Item = &str>) -> Result<(), ConnectError> {
        let unchecked: Vec<String> = {
            let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            let unchecked: BTreeSet<&str> = ours.into_iter().filter(|topic| !checked.contains(*topic)).collect();
            unchecked.into_iter().map(str::to_owned).collect()
        };
        if unchecked.is_empty() {
            return Ok(());
        }
        let present = self.present().await?;
        let absent: Vec<&String> =
            unchecked.iter().filter(|topic| !present.contains_key(&self.names.topic(topic))).collect();
        if !absent.is_empty() {
            self.create(&absent).await?;
        }
        self.wait_for(&unchecked).await?;
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).extend(unchecked);
        Ok(())
    }

    /// Looks whether these topics are still there. One that is gone is made again at the next look: until then every process
    /// that looks as often has seen that it was gone, and knows that its offsets mean nothing any more. Tells which are back,
    /// by the broker's names.
    pub(crate) async fn restore(&self, ours: &[String]) -> Result<Vec<String>, ConnectError> {
        let present = self.present().await?;
        let is_present = |topic: &str| present.contains_key(&self.names.topic(topic));
        let awaited: Vec<String> = {
            let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
            let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            let awaited = gone.iter().cloned().collect();
            gone.extend(ours.iter().filter(|topic| !is_present(topic) && checked.remove(*topic)).cloned());
            awaited
        };
        self.ensure(awaited.iter().map(String::as_str)).await?;
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).retain(|topic| !awaited.contains(topic));
        Ok(awaited.iter().map(|topic| self.names.topic(topic)).collect())
    }

    /// Asks a broker for the names of its topics, within a moment.
    pub(crate) async fn ping(&self) -> Result<(), madang_messaging::Outage> {
        let admin = self.admin.clone();
        let timeout = Duration::from_millis(PING_TIMEOUT_MS);
        blocking(move || admin.inner().fetch_metadata(None, timeout).map(|_| ()).map_err(away)).await
    }

    /// Asks brokers about topics.
    pub(crate) fn admin(&self) -> Arc<AdminClient<Connection>> {
        self.admin.clone()
    }

    /// Our names of the topics that hold dead letters, in order.
    pub(crate) async fn of_dead_letters(&self) -> Result<Vec<String>, madang_messaging::Outage> {
        let present = self.present().await?;
        let ours = present.keys().filter_map(|topic| self.names.ours(topic));
        Ok(ours.filter(|topic| holds_dead_letters(topic)).map(str::to_owned).collect())
    }

    fn partitions(&self, topic: &str) -> u32 {
        if holds_dead_letters(topic) { DEAD_LETTER_PARTITIONS } else { self.options.partitions }
    }

    /// How many partitions with a leader each topic on the broker has; the second is how many there are in all.
    async fn present(&self) -> Result<BTreeMap<String, (usize, usize)>, madang_messaging::Outage> {
        let admin = self.admin.clone();
        blocking(move || {
            // Asking for all of them asks for none by name: a broker that makes topics by itself would make that one.
            let metadata =
                admin.inner().fetch_metadata(None, Duration::from_millis(ANSWER_TIMEOUT_MS)).map_err(away)?;
            let counted = metadata.topics().iter().filter(|topic| topic.error().is_none()).map(|topic| {
                let led = topic.partitions().iter().filter(|partition| partition.leader() >= 0).count();
                (topic.name().to_owned(), (led, topic.partitions().len()))
            });
            Ok(counted.collect())
        })
        .await
    }

    /// How many copies a new topic gets. Brokers that are named and not there yet count: a topic that was made without them would
    /// have one copy for ever.
    async fn replication(&self) -> Result<u16, madang_messaging::Outage> {
        if let Some(said) = self.options.replication {
            return Ok(said);
        }
        let admin = self.admin.clone();
        let there = blocking(move || {
            let timeout = Duration::from_millis(ANSWER_TIMEOUT_MS);
            admin.inner().fetch_metadata(None, timeout).map(|metadata| metadata.brokers().len()).map_err(away)
        });
        let named = self.options.bootstrap.split(',').filter(|broker| !broker.trim().is_empty()).count();
        Ok(copies(named.max(there.await?)))
    }

    async fn create(&self, ours: &[&String]) -> Result<(), ConnectError> {
        let settings = Settings::of(&self.options, self.replication().await?);
        let named: Vec<(String, bool, i32)> = ours
            .iter()
            .map(|topic| (self.names.topic(topic), holds_dead_letters(topic), count_on_wire(self.partitions(topic))))
            .collect();
        let wanted: Vec<NewTopic<'_>> =
            named.iter().map(|(name, letters, partitions)| settings.topic(name, *letters, *partitions)).collect();
        let timeout = Some(Duration::from_millis(ANSWER_TIMEOUT_MS));
        let options = AdminOptions::new().request_timeout(timeout).operation_timeout(timeout);
        for made in self.admin.create_topics(&wanted, &options).await.map_err(away)? {
            match made {
                Ok(topic) => tracing::info!(topic, "kafka: created the topic {topic}"),
                // Another process was faster; whether it made the same is seen next.
                Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
                Err((topic, code)) if is_refusal(code) => {
                    return Err(ConnectError::Refused { topic, reason: code.to_string() });
                }
                Err((topic, code)) => return Err(away(format!("{topic} was not created: {code}")).into()),
            }
        }
        Ok(())
    }

    /// Waits until every topic has its partitions and each of them a leader.
    async fn wait_for(&self, ours: &[String]) -> Result<(), ConnectError> {
        let deadline = Instant::now() + Duration::from_millis(LEADERS_TIMEOUT_MS);
        loop {
            let present = self.present().await?;
            let mut waiting = None;
            for ours in ours {
                let (topic, wanted) = (self.names.topic(ours), self.partitions(ours));
                match present.get(&topic) {
                    Some(&(_, found)) if u32::try_from(found) != Ok(wanted) => {
                        return Err(ConnectError::Partitions { topic, found, wanted });
                    }
                    Some(&(led, found)) if led == found => {}
                    _ => waiting = Some(topic),
                }
            }
            let Some(topic) = waiting else { return Ok(()) };
            if Instant::now() >= deadline {
                return Err(away(format!("{topic} has partitions without a leader")).into());
            }
            tokio::time::sleep(Duration::from_millis(LEADERS_POLL_MS)).await;
        }
    }
}

/// The settings of new topics as text, which outlives the request that names them.
struct Settings {
    replication: i32,
    in_sync: String,
    record_max_bytes: String,
    retention_ms: Option<String>,
    segment_ms: String,
}

impl Settings {
    fn of(options: &KafkaOptions, replication: u16) -> Self {
        Self {
            replication: i32::from(replication),
            in_sync: producer::in_sync_min(replication).to_string(),
            record_max_bytes: RECORD_MAX_BYTES.to_string(),
            retention_ms: options.retention_ms.map(|ms| ms.to_string()),
            segment_ms: DEAD_LETTER_SEGMENT_MS.to_string(),
        }
    }

    fn topic<'a>(&'a self, name: &'a str, letters: bool, partitions: i32) -> NewTopic<'a> {
        let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(self.replication))
            .set("max.message.bytes", &self.record_max_bytes)
            .set("min.insync.replicas", &self.in_sync);
        match &self.retention_ms {
            // A letter stays until the record that removes it has the same key; then compaction forgets both.
            _ if letters => topic.set("cleanup.policy", "compact").set("segment.ms", &self.segment_ms),
            Some(retention_ms) => topic.set("cleanup.policy", "delete").set("retention.ms", retention_ms),
            None => topic.set("cleanup.policy", "delete"),
        }
    }
}

/// Copies of a topic among so many brokers, where nobody said how many: with three one may be away, and the others still agree.
fn copies(brokers: usize) -> u16 {
    if brokers >= 3 { 3 } else { 1 }
}

/// A number of partitions as the protocol has it; the options were checked to fit.
pub(crate) fn count_on_wire(partitions: u32) -> i32 {
    i32::try_from(partitions).unwrap_or(i32::MAX)
}

fn is_refusal(code: RDKafkaErrorCode) -> bool {
    matches!(
        code,
        RDKafkaErrorCode::InvalidTopic
            | RDKafkaErrorCode::InvalidPartitions
            | RDKafkaErrorCode::InvalidReplicationFactor
            | RDKafkaErrorCode::InvalidConfig
            | RDKafkaErrorCode::PolicyViolation
            | RDKafkaErrorCode::TopicAuthorizationFailed
            | RDKafkaErrorCode::ClusterAuthorizationFailed
    )
}
