//! The embedded event log: entries commit with the change they report, groups read them at their own pace.

mod groups;
mod lag;
mod retention;
mod subscription;
mod table;
mod tail;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use madang_messaging::{EventLog, GroupId, Message, Outage, PublishOutcome, Subscription, ToMessage};

pub use groups::{GroupState, groups};
pub use lag::{Backlog, GroupLag};
pub use retention::{RetentionOptions, Trimmed};
pub(crate) use tail::Tail;

use crate::dead_letters;
use crate::errors::{outage, sql_error};
use crate::{Priority, Sqlite};

/// A message past this size is refused for ever.
pub const MESSAGE_MAX_BYTES: usize = 4 << 20;

/// Topics that end like this are kept as dead letters, for a person and not for a group.
const DEAD_LETTER_SUFFIX: &str = ".dlq";

/// The event log in SQLite.
pub struct SqliteLog<E> {
    db: Sqlite<E>,
}

impl<E> Clone for SqliteLog<E> {
    fn clone(&self) -> Self {
        Self { db: self.db.clone() }
    }
}

impl<E> SqliteLog<E> {
    /// The log of a database.
    pub fn new(db: Sqlite<E>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl<E: ToMessage> EventLog for SqliteLog<E> {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let messages = messages.to_vec();
        let died_at = self.db.clock().now();
        let publish = self.db.write(Priority::Background, move |tx| {
            let outcomes = messages.into_iter().map(|message| {
                if message.payload.len() > MESSAGE_MAX_BYTES {
                    return Ok(PublishOutcome::Rejected(format!("larger than {MESSAGE_MAX_BYTES} bytes")));
                }
                if message.topic.ends_with(DEAD_LETTER_SUFFIX) {
                    dead_letters::insert(tx, &message, died_at)?;
                } else {
                    tx.append(message)?;
                }
                Ok(PublishOutcome::Published)
            });
            outcomes.collect::<rusqlite::Result<Vec<_>>>().map_err(sql_error)
        });
        publish.await.map_err(outage)
    }

    async fn subscribe(&self, group: &GroupId, topics: &[String]) -> Result<Box<dyn Subscription>, Outage> {
        self.register_group(group, topics).await?;
        let subscription = subscription::LogSubscription::join(self.db.clone(), group.clone(), topics.to_vec());
        Ok(Box::new(subscription.await?))
    }
}
