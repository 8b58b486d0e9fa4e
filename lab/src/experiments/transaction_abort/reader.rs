//! A reader of the topic in a thread of its own, and the offsets that the broker tells readers of its kind.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};
use tokio::task::JoinHandle;

use super::record::Record;

/// How long one poll waits.
const POLL: Duration = Duration::from_millis(20);
/// How long a broker may take to tell its offsets.
const TELL_MAX: Duration = Duration::from_secs(10);

/// What a reader was given so far.
#[derive(Default)]
struct Given {
    /// Each record with when it came, by its number; one that comes twice counts once.
    records: Mutex<BTreeMap<u64, (Record, Instant)>>,
    /// The offset behind the last record.
    position: AtomicI64,
    stop: AtomicBool,
}

/// A reader at work.
pub(super) struct Reader {
    given: Arc<Given>,
    thread: JoinHandle<anyhow::Result<()>>,
    /// Asks for offsets only.
    watching: Arc<BaseConsumer>,
    topic: String,
}

impl Reader {
    /// Reads partition 0 of the topic from its beginning.
    pub(super) fn start(config: &ClientConfig, topic: &str) -> anyhow::Result<Self> {
        let consumer: BaseConsumer = config.create()?;
        let mut partitions = TopicPartitionList::new();
        partitions.add_partition_offset(topic, 0, Offset::Beginning)?;
        consumer.assign(&partitions)?;
        let given = Arc::new(Given::default());
        let reading = Arc::clone(&given);
        let thread = tokio::task::spawn_blocking(move || read(&consumer, &reading));
        Ok(Self { given, thread, watching: Arc::new(config.create()?), topic: topic.to_owned() })
    }

    /// Where the reader is.
    pub(super) fn position(&self) -> i64 {
        self.given.position.load(Ordering::Relaxed)
    }

    /// The end of the log for readers of this kind: the high watermark, or the last stable offset.
    pub(super) async fn end(&self) -> anyhow::Result<i64> {
        let (watching, topic) = (Arc::clone(&self.watching), self.topic.clone());
        let asked = tokio::task::spawn_blocking(move || watching.fetch_watermarks(&topic, 0, TELL_MAX));
        Ok(asked.await??.1)
    }

    /// Waits until a record was given, and tells when; `None` when it did not come in time.
    pub(super) async fn given_at(&self, number: u64, within: Duration) -> Option<Instant> {
        let until = Instant::now() + within;
        loop {
            let found = self.records().get(&number).map(|(_, at)| *at);
            if found.is_some() || Instant::now() > until {
                return found;
            }
            tokio::time::sleep(POLL / 4).await;
        }
    }

    fn records(&self) -> BTreeMap<u64, (Record, Instant)> {
        self.given.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it, and tells what it was given.
    pub(super) async fn end_reading(self) -> anyhow::Result<Vec<Record>> {
        self.given.stop.store(true, Ordering::Relaxed);
        self.thread.await.context("a reader failed")??;
        let records = std::mem::take(&mut *self.given.records.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(records.into_values().map(|(record, _)| record).collect())
    }
}

fn read(consumer: &BaseConsumer, given: &Given) -> anyhow::Result<()> {
    while !given.stop.load(Ordering::Relaxed) {
        let Some(polled) = consumer.poll(POLL) else { continue };
        let message = polled?;
        let record = message.payload().and_then(Record::read).context("a record that is none of ours")?;
        given.position.store(message.offset() + 1, Ordering::Relaxed);
        let mut records = given.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.entry(record.number).or_insert_with(|| (record, Instant::now()));
    }
    Ok(())
}
