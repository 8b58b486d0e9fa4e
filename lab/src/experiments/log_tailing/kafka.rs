//! Where every way publishes to, and where it is seen: a topic of one partition. An event is published when the runner, which
//! also saw its commit answered, has consumed it; both moments are of its own clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer};
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};
use tokio::task::JoinHandle;

use super::outbox::Event;
use super::published::Published;

/// How long the broker may take for a batch.
const FLUSH_MAX: Duration = Duration::from_secs(60);
/// How long one poll waits.
const POLL: Duration = Duration::from_millis(20);

/// Where to publish.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TopicSettings {
    /// Brokers, `host:port`, separated by commas.
    #[arg(long)]
    pub(super) brokers: String,
    /// The topic.
    #[arg(long)]
    pub(super) topic: String,
}

/// Publishes events.
pub(super) struct Publisher {
    producer: ThreadedProducer<DefaultProducerContext>,
    topic: String,
}

impl Publisher {
    pub(super) fn new(settings: &TopicSettings) -> anyhow::Result<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &settings.brokers).set("acks", "all").set("linger.ms", "0");
        Ok(Self { producer: config.create()?, topic: settings.topic.clone() })
    }

    /// Sends events in their order, and returns once the broker has all of them.
    pub(super) fn publish(&self, events: &[Event]) -> anyhow::Result<()> {
        for event in events {
            let (key, payload) = (event.account.to_string(), event.line());
            let record = BaseRecord::to(&self.topic).key(&key).payload(&payload);
            self.producer.send(record).map_err(|(error, _)| error)?;
        }
        tokio::task::block_in_place(|| self.producer.flush(FLUSH_MAX)).context("the broker did not take an event")
    }
}

/// Consumes the topic in a thread of its own, and notes when each event came.
pub(super) struct Consumed {
    stop: StopOnDrop,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl Consumed {
    pub(super) fn start(settings: &TopicSettings, published: Arc<Mutex<Published>>) -> anyhow::Result<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &settings.brokers).set("group.id", "lab-tailing");
        // A record is consumed when it is there, and not when a batch is full.
        config.set("enable.auto.commit", "false").set("fetch.wait.max.ms", "10");
        let consumer: BaseConsumer = config.create()?;
        let mut partitions = TopicPartitionList::new();
        partitions.add_partition_offset(&settings.topic, 0, Offset::Beginning)?;
        consumer.assign(&partitions)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = tokio::task::spawn_blocking(move || {
            while !stopped.load(Ordering::Relaxed) {
                let Some(polled) = consumer.poll(POLL) else { continue };
                let message = polled?;
                let line = message.payload().and_then(|payload| std::str::from_utf8(payload).ok());
                let event = line.and_then(Event::read).context("a record that is none of ours")?;
                published.lock().unwrap_or_else(PoisonError::into_inner).note(event, Instant::now());
            }
            Ok(())
        });
        Ok(Self { stop: StopOnDrop(stop), thread })
    }

    pub(super) async fn end(self) -> anyhow::Result<()> {
        drop(self.stop);
        self.thread.await.context("the consumer failed")?
    }
}

/// Ends a thread, also one that nobody waits for any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
