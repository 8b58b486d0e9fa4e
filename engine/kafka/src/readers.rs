//! Readers that join nothing, by which a broker is asked about offsets. They are kept: each is a client with threads and
//! connections of its own, and lag is read every few seconds, for every group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_messaging::Outage;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::KafkaOptions;
use crate::errors::{away, blocking};

/// How long a broker may take to answer about offsets, in milliseconds.
const OFFSETS_TIMEOUT_MS: u64 = 5_000;

/// Partitions as the broker names them.
type Partitions = Vec<(String, i32)>;

/// One reader a group that was asked about; there are as many groups as the program has.
#[derive(Clone, Default)]
pub(crate) struct Readers(Arc<Mutex<HashMap<String, Arc<BaseConsumer>>>>);

impl Readers {
    /// The next offset of each of these partitions, in their order.
    pub(crate) async fn ends(
        &self,
        options: &KafkaOptions,
        reader: String,
        of: Partitions,
    ) -> Result<Vec<i64>, Outage> {
        self.ask(options, reader, move |reader| listed(reader, &of, Offset::End)).await
    }

    /// The next offset that a group will read of each of these partitions; the oldest where it has stored nothing.
    pub(crate) async fn stored(
        &self,
        options: &KafkaOptions,
        group: String,
        of: Partitions,
    ) -> Result<Vec<i64>, Outage> {
        self.ask(options, group, move |reader| {
            let mut wanted = TopicPartitionList::with_capacity(of.len());
            for (topic, partition) in &of {
                wanted.add_partition(topic, *partition);
            }
            let committed = reader.committed_offsets(wanted, timeout()).map_err(away)?;
            let stored: Vec<Option<i64>> = of.iter().map(|of| found(&committed, of)).collect::<Result<_, _>>()?;
            if let Some(all) = stored.iter().copied().collect() {
                return Ok(all);
            }
            let oldest = listed(reader, &of, Offset::Beginning)?;
            Ok(stored.into_iter().zip(oldest).map(|(stored, oldest)| stored.unwrap_or(oldest)).collect())
        })
        .await
    }

    /// Asks by the reader of a group. One that failed is not asked again: the next question has a new one.
    async fn ask<T: Send + 'static>(
        &self,
        options: &KafkaOptions,
        group: String,
        question: impl FnOnce(&BaseConsumer) -> Result<T, Outage> + Send + 'static,
    ) -> Result<T, Outage> {
        let (readers, config) = (self.clone(), options.reader(&group));
        blocking(move || {
            let kept = readers.kept().get(&group).cloned();
            let reader = match kept {
                Some(reader) => reader,
                None => Arc::new(config.create::<BaseConsumer>().map_err(away)?),
            };
            // What a client has to report waits until it is polled.
            while reader.poll(Duration::ZERO).is_some() {}
            let answer = question(&reader);
            match &answer {
                Ok(_) => readers.kept().insert(group, reader),
                Err(_) => readers.kept().remove(&group),
            };
            answer
        })
        .await
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<BaseConsumer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn timeout() -> Duration {
    Duration::from_millis(OFFSETS_TIMEOUT_MS)
}

/// Where each of these partitions begins or ends, by one request to each broker.
fn listed(reader: &BaseConsumer, of: &Partitions, at: Offset) -> Result<Vec<i64>, Outage> {
    let mut wanted = TopicPartitionList::with_capacity(of.len());
    for (topic, partition) in of {
        wanted.add_partition_offset(topic, *partition, at).map_err(away)?;
    }
    let listed = reader.offsets_for_times(wanted, timeout()).map_err(away)?;
    let offset = |of| found(&listed, of)?.ok_or_else(|| away(format!("no offset of {of:?} was told")));
    of.iter().map(offset).collect()
}

/// The offset that an answer has of a partition, if it has one.
fn found(answer: &TopicPartitionList, of: &(String, i32)) -> Result<Option<i64>, Outage> {
    let Some(found) = answer.find_partition(&of.0, of.1) else { return Ok(None) };
    found.error().map_err(away)?;
    Ok(match found.offset() {
        Offset::Offset(offset) => Some(offset),
        _ => None,
    })
}
