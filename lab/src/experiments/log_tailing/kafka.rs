//! Where every way publishes to, and where it is seen: a topic of one partition. An event is published when the runner, which
//! also saw its commit answered, has consumed it; both moments are of its own clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext, Message as _, Offset, TopicPartitionList};
use tokio::task::JoinHandle;

use super::outbox::Event;
use super::published::Published;

/// How long the broker may take for a batch.
const TAKEN_MAX: Duration = Duration::from_secs(60);
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

/// What the broker said of records so far. A flush of the client returns up to 100 ms after the last acknowledgement, which would
/// be taken for the latency of whoever waits for it; this returns at once.
#[derive(Default)]
struct Acknowledged {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Default)]
struct Counts {
    taken: u64,
    refused: u64,
}

/// Counts as the client hears of them.
#[derive(Clone, Default)]
struct Counting(Arc<Acknowledged>);

impl ClientContext for Counting {}

impl ProducerContext for Counting {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(_) => counts.taken += 1,
            Err(_) => counts.refused += 1,
        }
        self.0.changed.notify_all();
    }
}

/// Publishes events.
pub(super) struct Publisher {
    producer: ThreadedProducer<Counting>,
    topic: String,
    sent: AtomicU64,
}

impl Publisher {
    pub(super) fn new(settings: &TopicSettings) -> anyhow::Result<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &settings.brokers).set("acks", "all").set("linger.ms", "0");
        let producer = config.create_with_context(Counting::default())?;
        Ok(Self { producer, topic: settings.topic.clone(), sent: AtomicU64::new(0) })
    }

    /// Sends events in their order, and returns once the broker has all of them.
    pub(super) fn publish(&self, events: &[Event]) -> anyhow::Result<()> {
        for event in events {
            let (key, payload) = (event.account.to_string(), event.line());
            let record = BaseRecord::to(&self.topic).key(&key).payload(&payload);
            self.producer.send(record).map_err(|(error, _)| error)?;
        }
        let sent = events.len() as u64;
        let sent = self.sent.fetch_add(sent, Ordering::Relaxed) + sent;
        tokio::task::block_in_place(|| self.wait_for(sent))
    }

    fn wait_for(&self, sent: u64) -> anyhow::Result<()> {
        let acknowledged = &self.producer.context().0;
        let counts = acknowledged.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let waited =
            acknowledged.changed.wait_timeout_while(counts, TAKEN_MAX, |counts| counts.taken + counts.refused < sent);
        let (counts, _) = waited.unwrap_or_else(PoisonError::into_inner);
        ensure!(counts.taken == sent, "the broker took {} of {sent} events", counts.taken);
        Ok(())
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
