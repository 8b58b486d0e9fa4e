//! The event log port: where messages are published, and from where consumer groups read them at their own pace.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;

use crate::{GroupId, Message, Outage};

/// Where a delivery stands in the log. Offsets of one topic and partition grow; gaps are allowed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The topic it was read from; on a retry rung not the original one.
    pub topic: String,
    /// The partition of the topic.
    pub partition: u32,
    /// The place in the partition.
    pub offset: i64,
}

/// `topic/partition/offset`, as logs and commands name it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.topic, self.partition, self.offset)
    }
}

/// Why a text names no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a record as topic/partition/offset")]
pub struct NoPosition;

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let mut parts = text.rsplitn(3, '/');
        let (offset, partition, topic) = (parts.next(), parts.next(), parts.next());
        let offset = offset.and_then(|offset| offset.parse().ok()).filter(|offset| *offset >= 0).ok_or(NoPosition)?;
        let partition = partition.and_then(|partition| partition.parse().ok()).ok_or(NoPosition)?;
        let topic = topic.filter(|topic| !topic.is_empty()).ok_or(NoPosition)?.to_owned();
        Ok(Self { topic, partition, offset })
    }
}

/// A message handed to a consumer group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Where it was read.
    pub position: Position,
    /// What was read.
    pub message: Message,
}

/// What the log says of one published message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It is in the log.
    Published,
    /// The log will never take this message as it is (too large, say).
    Rejected(String),
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Polled {
    /// Deliveries in the order of their partitions; empty when nothing came in time.
    Deliveries(Vec<Delivery>),
    /// These partitions belong to another instance from now on: finish and store what is in flight, drop the rest.
    Revoked(Vec<(String, u32)>),
    /// The group fell behind what the log keeps. Its derived data must be rebuilt from the owners; the subscription goes
    /// on from the head of the log.
    FellBehind,
}

/// A log of messages.
#[async_trait]
pub trait EventLog: Send + Sync {
    /// Publishes in the order given, with one outcome a message. `Err` means nothing is known of any of them: the caller
    /// treats all as unsent, and duplicates are absorbed by their `event_id`.
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage>;
    /// Joins a group that reads these topics. A group that is new starts at the oldest message kept.
    async fn subscribe(&self, group: &GroupId, topics: &[String]) -> Result<Box<dyn Subscription>, Outage>;
}

/// One instance's part in a consumer group.
#[async_trait]
pub trait Subscription: Send {
    /// The next deliveries after those already polled, at most `max`, waiting at most `max_wait` for the first. Safe to
    /// cancel: nothing polled is lost.
    async fn poll(&mut self, max: usize, max_wait: Duration) -> Result<Polled, Outage>;
    /// Stores that every delivery up to and including these positions is done, one position a topic and partition.
    async fn commit(&mut self, done: &[Position]) -> Result<(), Outage>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_as_it_is_written() {
        let position = Position { topic: "a.v1.g.retry.5s".into(), partition: 3, offset: 42 };
        assert_eq!(position.to_string().parse(), Ok(position));
        for text in ["", "a", "a/1", "/1/2", "a/x/2", "a/1/-2", "a/1/2/"] {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
    }
}
