//! The consumer's constants, with the defaults of the design, and the levels at which a group reads.

use super::ladder::{Ladder, rung_topic};
use crate::{Backoff, GroupId};

/// How a consumer group reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerConfig {
    /// The group.
    pub group: GroupId,
    /// The topics it reads; each has its own ladder.
    pub topics: Vec<String>,
    /// Where failing messages wait.
    pub ladder: Ladder,
    /// Deliveries in flight at one level at most.
    pub batch_max: usize,
    /// How long a poll waits for the first delivery, in milliseconds.
    pub poll_wait_ms: u64,
    /// After a batch that was not full, the next is polled for no sooner than so long after it was handed in, in
    /// milliseconds: a handler that pays for each batch and not for each message then pays less, and what comes alone is
    /// still handed in at once.
    pub gather_ms: u64,
    /// What is done is stored after so long at the latest, in milliseconds; 0 stores it after every batch. A process that
    /// dies is handed in again what it did meanwhile. Handlers that store offsets themselves are not concerned.
    pub commit_interval_ms: u64,
    /// Attempts in place before a message goes to the next rung.
    pub attempts_in_place: u32,
    /// Waits between attempts in place.
    pub in_place_backoff: Backoff,
    /// How long a level pauses when a part is away.
    pub outage_backoff: Backoff,
    /// A log that has not answered by then is away, in milliseconds.
    pub answer_timeout_ms: u64,
    /// How long the end may take, in milliseconds.
    pub drain_timeout_ms: u64,
}

impl ConsumerConfig {
    /// The defaults for a group on its topics.
    pub fn new(group: GroupId, topics: Vec<String>) -> Self {
        Self {
            group,
            topics,
            ladder: Ladder::default(),
            batch_max: 256,
            poll_wait_ms: 500,
            gather_ms: 0,
            commit_interval_ms: 100,
            attempts_in_place: 3,
            in_place_backoff: Backoff { base_ms: 50, cap_ms: 500 },
            outage_backoff: Backoff { base_ms: 100, cap_ms: 10_000 },
            answer_timeout_ms: 10_000,
            drain_timeout_ms: 5_000,
        }
    }

    /// The levels of the group: its topics, then each rung.
    pub fn levels(&self) -> Vec<Level> {
        let mut levels = vec![Level { rung: None, topics: self.topics.clone() }];
        for (place, rung) in self.ladder.0.iter().enumerate() {
            let topics = self.topics.iter().map(|topic| rung_topic(topic, &self.group, rung)).collect();
            levels.push(Level { rung: Some(place), topics });
        }
        levels
    }
}

/// What one subscription of a group reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Which rung of the ladder; `None` for the topics themselves.
    pub rung: Option<usize>,
    /// The topics read.
    pub topics: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_of_every_topic_is_read_by_somebody() {
        let config = ConsumerConfig::new(GroupId::new("g"), vec!["a".into(), "b".into()]);
        let read: Vec<String> = config.levels().into_iter().flat_map(|level| level.topics).collect();
        assert_eq!(read, ["a", "b", "a.g.retry.5s", "b.g.retry.5s", "a.g.retry.1m", "b.g.retry.1m"]);
    }
}
