//! What can go wrong with the brokers, and what each means for the caller.

use madang_messaging::Outage;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};

/// Why the log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The options cannot work: change them.
    #[error("the settings of Kafka are wrong: {0}")]
    Options(String),
    /// A topic has another number of partitions than configured: keys would move. Change the configuration to what is
    /// there, or move the messages to a new topic.
    #[error(
        "topic {topic} has {found} partitions, but {wanted} are configured: set the number that it has (it is not changed, because its keys would move to other partitions)"
    )]
    Partitions {
        /// The topic, as the broker knows it.
        topic: String,
        /// How many it has.
        found: usize,
        /// How many are configured.
        wanted: u32,
    },
    /// The broker refuses to make a topic: change what it says.
    #[error("topic {topic} cannot be created: {reason}")]
    Refused {
        /// The topic, as the broker knows it.
        topic: String,
        /// What the broker says.
        reason: String,
    },
    /// The brokers are away: ask again later.
    #[error(transparent)]
    Outage(#[from] Outage),
}

impl From<ConnectError> for Outage {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Outage(outage) => outage,
            other => away(other),
        }
    }
}

/// The log is away.
#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped, which hand them over")]
pub(crate) fn away(reason: impl ToString) -> Outage {
    Outage::new("kafka", reason.to_string())
}

/// Whether the broker will never take this message as it is.
pub(crate) fn is_refusal(error: &KafkaError) -> bool {
    matches!(
        error.rdkafka_error_code(),
        Some(
            RDKafkaErrorCode::MessageSizeTooLarge
                | RDKafkaErrorCode::InvalidMessage
                | RDKafkaErrorCode::InvalidMessageSize
                | RDKafkaErrorCode::MessageBatchTooLarge
                | RDKafkaErrorCode::InvalidTimestamp
                | RDKafkaErrorCode::InvalidRecord
                | RDKafkaErrorCode::InvalidArgument
        )
    )
}

/// Runs what blocks on a thread that may.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Outage> + Send + 'static,
) -> Result<T, Outage> {
    tokio::task::spawn_blocking(work).await.map_err(away)?
}
