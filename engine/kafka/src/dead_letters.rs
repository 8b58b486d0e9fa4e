//! Dead letters on compacted topics: a letter is a record under a name of its own, and a record of the same name without a
//! payload removes it.
//!
//! A letter's id is where it lies (`topic/offset`), which compaction never changes. Whether it is still there is known only
//! after everything behind it was read, so each call reads its topics to their end: dead letters are few, and people wait
//! for them, not requests. Two who remove the same letter in the same moment may both hear that they did.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use madang_messaging::{DeadLetter, DeadLetterId, DeadLetters, Outage};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Message as _};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::codec;
use crate::errors::{away, blocking};
use crate::log::Inner;
use crate::names::holds_dead_letters;

/// How long reading one topic of dead letters may take, in milliseconds.
const READ_TIMEOUT_MS: u64 = 20_000;
/// How long a broker may take to say where a topic ends, in milliseconds.
const ENDS_TIMEOUT_MS: u64 = 5_000;
/// How long one wait for a record lasts, in milliseconds.
const RECORD_WAIT_MS: u64 = 200;
/// The digits of an offset in an id, so that ids sort as offsets do.
const OFFSET_DIGITS: usize = 19;

/// The dead letters of every group on Kafka.
#[derive(Clone)]
pub struct KafkaDeadLetters {
    inner: Arc<Inner>,
}

impl KafkaDeadLetters {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// Reads a topic of dead letters from `start` to its present end.
    async fn read<T: Send + 'static>(
        &self,
        topic: &str,
        start: i64,
        mut into: T,
        mut each: impl FnMut(&mut T, &BorrowedMessage<'_>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<T, Outage> {
        let names = &self.inner.names;
        let (config, topic) = (self.inner.options.reader(&names.dead_letter_reader()), names.topic(topic));
        blocking(move || {
            let deadline = Instant::now() + Duration::from_millis(READ_TIMEOUT_MS);
            let reader: BaseConsumer = config.create().map_err(away)?;
            let ends = reader.fetch_watermarks(&topic, 0, Duration::from_millis(ENDS_TIMEOUT_MS));
            let (oldest, end) = ends.map_err(away)?;
            let start = start.max(oldest);
            if start >= end {
                return Ok(into);
            }
            let mut from = TopicPartitionList::new();
            from.add_partition_offset(&topic, 0, Offset::Offset(start)).map_err(away)?;
            reader.assign(&from).map_err(away)?;
            loop {
                match reader.poll(Duration::from_millis(RECORD_WAIT_MS)) {
                    Some(Ok(record)) => {
                        let last = record.offset() + 1 >= end;
                        if each(&mut into, &record).is_break() || last {
                            return Ok(into);
                        }
                    }
                    Some(Err(KafkaError::MessageConsumption(RDKafkaErrorCode::AllBrokersDown))) => {
                        return Err(away("no broker can be reached"));
                    }
                    Some(Err(error)) => tracing::debug!("kafka: an error while reading dead letters: {error}"),
                    None => {}
                }
                if Instant::now() >= deadline {
                    return Err(away(format!("{topic} was not read within {READ_TIMEOUT_MS} ms")));
                }
            }
        })
        .await
    }

    /// The letters of a topic behind `after`, in their order.
    async fn letters(&self, topic: &str, after: i64) -> Result<Vec<DeadLetter>, Outage> {
        let ours = topic.to_owned();
        let read = self.read(topic, after.saturating_add(1), HashMap::new(), move |letters, record| {
            let name = record.key().unwrap_or_default().to_vec();
            if codec::is_removal(record) {
                letters.remove(&name);
            } else {
                letters.insert(name, letter(record, &ours));
            }
            ControlFlow::Continue(())
        });
        let mut letters: Vec<DeadLetter> = read.await?.into_values().collect();
        letters.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        Ok(letters)
    }

    /// A letter with the name of its record.
    async fn named(&self, id: &DeadLetterId) -> Result<Option<(Vec<u8>, DeadLetter)>, Outage> {
        let Some((topic, offset)) = parse(id) else { return Ok(None) };
        if !self.inner.topics.of_dead_letters().await?.iter().any(|known| known == topic) {
            return Ok(None);
        }
        let ours = topic.to_owned();
        let found = self.read(topic, offset, None, move |found: &mut Option<(Vec<u8>, DeadLetter)>, record| {
            let name = record.key().unwrap_or_default();
            match found {
                None if record.offset() != offset || codec::is_removal(record) => return ControlFlow::Break(()),
                None => *found = Some((name.to_vec(), letter(record, &ours))),
                Some((known, _)) if known == name && codec::is_removal(record) => {
                    *found = None;
                    return ControlFlow::Break(());
                }
                Some(_) => {}
            }
            ControlFlow::Continue(())
        });
        found.await
    }
}

#[async_trait]
impl DeadLetters for KafkaDeadLetters {
    async fn list(&self, after: Option<&DeadLetterId>, limit: usize) -> Result<Vec<DeadLetter>, Outage> {
        let after = after.and_then(parse);
        let mut listed = Vec::new();
        for topic in self.inner.topics.of_dead_letters().await? {
            let from = match after {
                Some((last, _)) if topic.as_str() < last => continue,
                Some((last, offset)) if topic == last => offset,
                _ => -1,
            };
            listed.extend(self.letters(&topic, from).await?);
            if listed.len() >= limit {
                break;
            }
        }
        listed.truncate(limit);
        Ok(listed)
    }

    async fn find(&self, id: &DeadLetterId) -> Result<Option<DeadLetter>, Outage> {
        Ok(self.named(id).await?.map(|(_, letter)| letter))
    }

    async fn remove(&self, id: &DeadLetterId) -> Result<bool, Outage> {
        let Some((name, letter)) = self.named(id).await? else { return Ok(false) };
        self.inner.producer.remove_letter(&letter.message.topic, &name).await?;
        Ok(true)
    }

    async fn count(&self) -> Result<u64, Outage> {
        let mut count = 0;
        for topic in self.inner.topics.of_dead_letters().await? {
            let names = self.read(&topic, 0, std::collections::HashSet::new(), |names, record| {
                let name = record.key().unwrap_or_default().to_vec();
                if codec::is_removal(record) {
                    names.remove(&name);
                } else {
                    names.insert(name);
                }
                ControlFlow::Continue(())
            });
            count += names.await?.len() as u64;
        }
        Ok(count)
    }
}

fn letter(record: &BorrowedMessage<'_>, topic: &str) -> DeadLetter {
    let id = DeadLetterId(format!("{topic}/{:0width$}", record.offset(), width = OFFSET_DIGITS));
    DeadLetter { id, message: codec::message(record, topic), died_at: codec::written_at(record) }
}

/// Where a letter lies; `None` for what cannot be the name of one.
fn parse(id: &DeadLetterId) -> Option<(&str, i64)> {
    let (topic, offset) = id.0.rsplit_once('/')?;
    let digits = offset.len() == OFFSET_DIGITS && offset.bytes().all(|digit| digit.is_ascii_digit());
    (digits && holds_dead_letters(topic)).then(|| offset.parse().ok().map(|offset| (topic, offset))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_list_can_have_given_is_read_as_a_name() {
        let parsed =
            |name: &str| parse(&DeadLetterId(name.to_owned())).map(|(topic, offset)| (topic.to_owned(), offset));
        assert_eq!(parsed("t.g.dlq/0000000000000000042"), Some(("t.g.dlq".to_owned(), 42)));
        for name in ["", "t.g.dlq", "t.g.dlq/42", "t.g/0000000000000000042", "t.dlq/-000000000000000042", "/"] {
            assert_eq!(parsed(name), None, "{name}");
        }
    }
}
