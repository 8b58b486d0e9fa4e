//! What librdkafka calls back: partitions granted and taken away. Runs on the pump's thread.

use std::sync::Arc;

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::topic_partition_list::TopicPartitionList;
use rdkafka::types::RDKafkaRespErr;

use super::state::{Shared, partitions};
use crate::connection;

/// The callbacks of one member.
pub(crate) struct Member {
    shared: Arc<Shared>,
}

impl Member {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Notes what was taken away. A partition that still is ours is let go later, when nothing of it is in hand.
    fn revoked(&self, consumer: &BaseConsumer<Self>, list: &TopicPartitionList) -> KafkaResult<()> {
        let lost = consumer.assignment_lost();
        if self.shared.is_closing() || list.count() == 0 {
            return consumer.incremental_unassign(list);
        }
        let queues = self.shared.lock().revoke(partitions(list), lost);
        drop(queues);
        self.shared.wake.notify_one();
        if lost { consumer.incremental_unassign(list) } else { Ok(()) }
    }

    /// Notes what was granted; the pump finds out where to start.
    fn granted(&self, consumer: &BaseConsumer<Self>, list: &TopicPartitionList) -> KafkaResult<()> {
        if self.shared.is_closing() || list.count() == 0 {
            return consumer.incremental_assign(list);
        }
        self.shared.lock().granted.extend(partitions(list));
        Ok(())
    }
}

impl ClientContext for Member {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, log_message: &str) {
        connection::pass_on(level, fac, log_message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        connection::note(&error, reason);
    }
}

impl ConsumerContext for Member {
    fn rebalance(&self, base_consumer: &BaseConsumer<Self>, err: RDKafkaRespErr, tpl: &mut TopicPartitionList) {
        let outcome = match err {
            RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS => self.granted(base_consumer, tpl),
            _ => self.revoked(base_consumer, tpl),
        };
        if let Err(error) = outcome {
            tracing::warn!("kafka: cannot take part in a rebalance: {error}");
        }
    }
}
