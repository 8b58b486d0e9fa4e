//! How the brokers are reached and how topics are made, and the librdkafka settings that follow from it.

use std::collections::BTreeMap;
use std::fmt;

use madang_messaging::Message;
use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;

use crate::ConnectError;
use crate::codec::Attributes;

/// The largest payload a message may have, in bytes; the same as on the embedded log.
pub const MESSAGE_MAX_BYTES: usize = 4 << 20;
/// What key, headers and the reasons written on the retry ladder may add to a payload, in bytes.
const OVERHEAD_MAX_BYTES: usize = 128 << 10;
/// The largest record as the broker sees it, in bytes.
pub(crate) const RECORD_MAX_BYTES: usize = MESSAGE_MAX_BYTES + OVERHEAD_MAX_BYTES;

/// Messages that wait in the producer at most.
const QUEUE_MAX_MESSAGES: usize = 50_000;
/// Bytes that wait in the producer at most, in KiB.
const QUEUE_MAX_KIB: usize = 128 << 10;
/// How long the producer waits for company before it sends, in milliseconds.
const LINGER_MS: u64 = 5;
/// Messages that a subscription fetches ahead of its reader, per partition.
const PREFETCH_MESSAGES: usize = 2_000;
/// Bytes that a subscription fetches ahead of its reader, per partition, in KiB.
const PREFETCH_KIB: usize = 512;
/// Bytes of one partition in one answer, unless a single message is larger. With the line above it bounds what a member
/// holds: 768 KiB a partition, so 36 MiB with all 12 partitions of 4 topics.
const PARTITION_FETCH_BYTES: usize = 256 << 10;
/// How long a broker holds back an empty answer, in milliseconds: each asks for all partitions again, which is most of what
/// an idle program costs its broker.
const FETCH_WAIT_MS: u64 = 500;
/// How long a partition whose share of the lines above is used up is left alone, in milliseconds. librdkafka's own second
/// would be added to the age of whatever waits behind a backlog.
const FETCH_AGAIN_MS: u64 = 10;
/// How long a request may go unanswered, in milliseconds.
const SOCKET_TIMEOUT_MS: u64 = 10_000;
/// How long a reconnect waits at most, in milliseconds: a broker that is back is found within it.
const RECONNECT_MAX_MS: u64 = 1_000;
/// How often topics and their leaders are looked up anew, in milliseconds.
const METADATA_REFRESH_MS: u64 = 30_000;
/// How long a member may hold up a rebalance while it finishes what it has in hand, in milliseconds.
const REBALANCE_MAX_MS: u64 = 300_000;
/// A member that is silent for this share of its session is asked twice more before it is dropped.
const HEARTBEATS_PER_SESSION: u64 = 3;

/// Where the log is, how it is kept, and what the program that uses it is called.
#[derive(Clone)]
pub struct KafkaOptions {
    /// The program's name: the client id, the start of the name of every group, and the source of every event.
    pub program: String,
    /// Brokers to ask first: `host:port`, separated by commas.
    pub bootstrap: String,
    /// Put in front of the name of every topic and group; lets tests and installations share a broker.
    pub prefix: String,
    /// The program's topics, made when they are absent. Those of retries and dead letters follow from the groups.
    pub topics: Vec<String>,
    /// The type of an event (`ce_type`) for others who read the log, where no header `type` tells it.
    pub event_type: fn(&Message) -> Option<&str>,
    /// Partitions of every topic. It cannot be changed later without moving keys, so a topic that has another count is
    /// refused.
    pub partitions: u32,
    /// Copies of every partition; from 3 on a write needs all but one of them. `None` is 3 where there are three brokers or more,
    /// and else 1.
    pub replication: Option<u16>,
    /// How long new topics keep their messages, in milliseconds; `None` leaves it to the broker. Dead letters are kept
    /// until they are removed.
    pub retention_ms: Option<u64>,
    /// A message that is not acknowledged by then has an unknown outcome, in milliseconds. Below the relay's own patience,
    /// so that the relay hears what is known.
    pub delivery_timeout_ms: u64,
    /// A member that is silent for so long loses its partitions, in milliseconds.
    pub session_timeout_ms: u64,
    /// librdkafka's settings that start with `security.`, `ssl.` or `sasl.`, as they are. They need the feature
    /// `kafka-tls`.
    pub security: BTreeMap<String, String>,
}

/// Without the security settings, which hold passwords.
impl fmt::Debug for KafkaOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaOptions")
            .field("program", &self.program)
            .field("bootstrap", &self.bootstrap)
            .field("prefix", &self.prefix)
            .field("topics", &self.topics)
            .field("partitions", &self.partitions)
            .field("replication", &self.replication)
            .field("security", &self.security.keys())
            .finish_non_exhaustive()
    }
}

impl KafkaOptions {
    /// The defaults of a program on these brokers.
    pub fn new(program: impl Into<String>, bootstrap: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            bootstrap: bootstrap.into(),
            prefix: String::new(),
            topics: Vec::new(),
            event_type: |_| None,
            partitions: 12,
            replication: None,
            retention_ms: None,
            delivery_timeout_ms: 3_000,
            session_timeout_ms: 10_000,
            security: BTreeMap::new(),
        }
    }

    /// Refuses what cannot work before any broker is asked.
    pub(crate) fn check(&self) -> Result<(), ConnectError> {
        let invalid = |reason: &str| Err(ConnectError::Options(reason.to_owned()));
        if self.bootstrap.trim().is_empty() {
            return invalid("no broker is named");
        }
        if self.partitions == 0 || i32::try_from(self.partitions).is_err() || self.replication == Some(0) {
            return invalid("partitions and replication are at least 1");
        }
        if !self.security.is_empty() && !cfg!(feature = "kafka-tls") {
            return invalid("security settings need a build with the feature kafka-tls");
        }
        let known = |name: &String| ["security.", "ssl.", "sasl."].iter().any(|start| name.starts_with(start));
        match self.security.keys().find(|name| !known(name)) {
            Some(name) => Err(ConnectError::Options(format!("{name} is not a security setting"))),
            None => Ok(()),
        }
    }

    /// What the attributes of records tell of the program.
    pub(crate) fn attributes(&self) -> Attributes {
        Attributes { program: self.program.clone(), event_type: self.event_type }
    }

    /// What every client needs.
    pub(crate) fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set_log_level(RDKafkaLogLevel::Warning);
        config.set("bootstrap.servers", &self.bootstrap);
        config.set("client.id", &self.program);
        set(&mut config, "socket.timeout.ms", SOCKET_TIMEOUT_MS);
        set(&mut config, "reconnect.backoff.max.ms", RECONNECT_MAX_MS);
        set(&mut config, "topic.metadata.refresh.interval.ms", METADATA_REFRESH_MS);
        set(&mut config, "message.max.bytes", RECORD_MAX_BYTES);
        for (name, value) in &self.security {
            config.set(name, value);
        }
        config
    }

    /// The producer: nothing is acknowledged by fewer than all in-sync replicas, nothing doubled or reordered by a retry.
    pub(crate) fn producer(&self) -> ClientConfig {
        let mut config = self.client();
        config.set("enable.idempotence", "true");
        config.set("acks", "all");
        config.set("max.in.flight.requests.per.connection", "5");
        config.set("compression.type", "lz4");
        // The partition of a key as Kafka's own clients choose it.
        config.set("partitioner", "murmur2_random");
        set(&mut config, "linger.ms", LINGER_MS);
        set(&mut config, "message.timeout.ms", self.delivery_timeout_ms);
        set(&mut config, "queue.buffering.max.messages", QUEUE_MAX_MESSAGES);
        set(&mut config, "queue.buffering.max.kbytes", QUEUE_MAX_KIB);
        config
    }

    /// A member of a group. Offsets are stored by hand, after the work; one that the log no longer holds is an error.
    pub(crate) fn member(&self, group: &str) -> ClientConfig {
        let mut config = self.reader(group);
        config.set("partition.assignment.strategy", "cooperative-sticky");
        config.set("auto.offset.reset", "error");
        set(&mut config, "session.timeout.ms", self.session_timeout_ms);
        set(&mut config, "heartbeat.interval.ms", (self.session_timeout_ms / HEARTBEATS_PER_SESSION).max(1));
        set(&mut config, "max.poll.interval.ms", REBALANCE_MAX_MS.max(self.session_timeout_ms));
        config
    }

    /// Reads partitions without joining anything.
    pub(crate) fn reader(&self, group: &str) -> ClientConfig {
        let mut config = self.client();
        config.set("group.id", group);
        config.set("enable.auto.commit", "false");
        config.set("enable.auto.offset.store", "false");
        set(&mut config, "fetch.wait.max.ms", FETCH_WAIT_MS);
        set(&mut config, "fetch.queue.backoff.ms", FETCH_AGAIN_MS);
        set(&mut config, "queued.min.messages", PREFETCH_MESSAGES);
        set(&mut config, "queued.max.messages.kbytes", PREFETCH_KIB);
        set(&mut config, "fetch.message.max.bytes", PARTITION_FETCH_BYTES);
        set(&mut config, "fetch.max.bytes", RECORD_MAX_BYTES * 2);
        config
    }
}

fn set(config: &mut ClientConfig, name: &str, value: impl ToString + Copy) {
    config.set(name, value.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_cannot_work_are_refused_before_a_broker_is_asked() {
        assert!(KafkaOptions::new("test", "127.0.0.1:9092").check().is_ok());
        assert!(KafkaOptions::new("test", " ").check().is_err());
        assert!(KafkaOptions { partitions: 0, ..KafkaOptions::new("test", "a:1") }.check().is_err());
        let security = BTreeMap::from([("group.id".to_owned(), "x".to_owned())]);
        assert!(KafkaOptions { security, ..KafkaOptions::new("test", "a:1") }.check().is_err());
    }

    #[test]
    #[cfg(not(feature = "kafka-tls"))]
    fn security_settings_are_not_silently_ignored_by_a_build_without_tls() {
        let security = BTreeMap::from([("security.protocol".to_owned(), "SASL_SSL".to_owned())]);
        let refused = KafkaOptions { security, ..KafkaOptions::new("test", "a:1") }.check().unwrap_err();
        assert!(refused.to_string().contains("kafka-tls"));
    }

    #[test]
    #[cfg(feature = "kafka-tls")]
    fn a_build_with_tls_takes_certificates_and_passwords() {
        use rdkafka::producer::BaseProducer;
        let security = [
            ("security.protocol", "SASL_SSL"),
            ("sasl.mechanisms", "SCRAM-SHA-512"),
            ("sasl.username", "madang"),
            ("sasl.password", "secret"),
            ("ssl.endpoint.identification.algorithm", "https"),
        ];
        let security = security.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let options = KafkaOptions { security, ..KafkaOptions::new("test", "127.0.0.1:1") };
        assert!(options.check().is_ok() && !format!("{options:?}").contains("secret"));
        assert!(options.producer().create::<BaseProducer>().is_ok());
    }
}
