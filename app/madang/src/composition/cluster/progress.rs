//! How far the group of the hot scores has come on Kafka: it has consumed everything before a moment once it has passed
//! what was the end of its topics at some time after that moment.

use async_trait::async_trait;
use madang_engine_kafka::KafkaLog;
use madang_hot_article::Progress;
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::{ConsumerConfig, Outage, Position};
use tokio::sync::Mutex;

/// The progress of one group, its rungs included.
pub(super) struct KafkaProgress {
    log: KafkaLog,
    group: ConsumerConfig,
    /// The moment that was asked about last, with the ends of every lane seen after it.
    ends: Mutex<Option<(Timestamp, Vec<Vec<Position>>)>>,
}

impl KafkaProgress {
    /// The progress of `group`.
    pub(super) fn new(log: KafkaLog, group: ConsumerConfig) -> Self {
        Self { log, group, ends: Mutex::default() }
    }

    async fn has_passed(&self, before: Timestamp) -> Result<bool, Outage> {
        let mut known = self.ends.lock().await;
        let ends = match known.take() {
            Some((moment, ends)) if moment >= before => ends,
            _ => {
                let mut ends = Vec::new();
                for lane in self.group.lanes() {
                    ends.push(self.log.ends(&lane.topics).await?);
                }
                ends
            }
        };
        let mut passed = true;
        for (lane, ends) in self.group.lanes().iter().zip(&ends) {
            passed = passed && self.log.has_passed(&self.group.group, &lane.topics, ends).await?;
        }
        if !passed {
            *known = Some((before, ends));
        }
        Ok(passed)
    }
}

#[async_trait]
impl Progress for KafkaProgress {
    /// Asked about a moment that is over, as the end of a day is.
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError> {
        self.has_passed(before).await.map_err(|outage| StoreError::unavailable("log", outage.to_string()))
    }
}
