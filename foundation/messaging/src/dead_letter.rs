//! The dead letters port: what could not be applied or published, kept as raw bytes until a person decides.

use std::fmt;

use async_trait::async_trait;
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Message, Outage};

/// Names a dead letter for `show` and `replay`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeadLetterId(pub String);

impl fmt::Display for DeadLetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its name.
    pub id: DeadLetterId,
    /// The message as it came: the topic is `<topic>.<group>.dlq`, headers tell the original topic, group and reason. A
    /// letter without a group was given up by a relay.
    pub message: Message,
    /// When it was given up.
    pub died_at: Timestamp,
}

/// The dead letters of every group.
///
/// They arrive through [`crate::EventLog::publish`] to a topic that ends in `.dlq`, or through [`crate::Outbox::bury`].
/// A replay publishes the message again, for its group only, on the first rung of its ladder, and then removes it here;
/// so it takes the same way through the same handler and inbox as any other message.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// Letters in order of their id after `after`, at most `limit`.
    async fn list(&self, after: Option<&DeadLetterId>, limit: usize) -> Result<Vec<DeadLetter>, Outage>;
    /// One letter.
    async fn find(&self, id: &DeadLetterId) -> Result<Option<DeadLetter>, Outage>;
    /// Removes a letter that was replayed or dismissed; false when it was already gone.
    async fn remove(&self, id: &DeadLetterId) -> Result<bool, Outage>;
    /// How many there are.
    async fn count(&self) -> Result<u64, Outage>;
}
