//! The embedded event log: entries commit with the change they report, groups read them at their own pace.

mod append;
mod groups;
mod lag;
mod look;
mod retention;
mod subscription;
mod tail;
#[cfg(test)]
mod tests;
mod under_way;

use async_trait::async_trait;
use madang_messaging::{EventLog, GroupId, HandlerError, Message, Outage, Position, PublishOutcome, Subscription};
use rusqlite::Connection;

pub(crate) use append::report;
pub use groups::GroupState;
pub(crate) use groups::store_done;
pub use lag::{Behind, GroupLag};
pub use retention::{RetentionOptions, Trimmed};
pub(crate) use tail::Tail;
pub(crate) use under_way::Announcer;
pub use under_way::CommitListener;

use crate::dead_letters;
use crate::errors::{Failure, outage, sql_error};
use crate::{Lane, Sqlite};

/// A message past this size is refused for ever; the longest article is far below it.
pub const MESSAGE_MAX_BYTES: usize = 4 << 20;

/// Topics that end like this are kept as dead letters, for a person and not for a group.
const DEAD_LETTER_SUFFIX: &str = ".dlq";

/// The event log in SQLite.
#[derive(Clone)]
pub struct SqliteLog {
    db: Sqlite,
}

impl SqliteLog {
    /// The log of a database.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }

    /// Runs an effect and stores that the group is done up to `done`, in one transaction. For effects that are merges: a
    /// message that comes again changes nothing, so no event needs to be remembered.
    pub async fn apply_with_offset<T: Send + 'static>(
        &self,
        group: &GroupId,
        done: &[Position],
        effect: impl FnOnce(&Connection) -> Result<T, HandlerError> + Send + 'static,
    ) -> Result<T, HandlerError> {
        let (group, done) = (group.clone(), done.to_vec());
        let applied = self.db.write_or(Lane::Background, move |tx| {
            let value = effect(tx).map_err(Failure)?;
            store_done(tx, &group, &done).map_err(sql_error)?;
            Ok(value)
        });
        applied.await.map_err(|Failure(error)| error)
    }
}

#[async_trait]
impl EventLog for SqliteLog {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let messages = messages.to_vec();
        let died_at = self.db.clock().now();
        let publish = self.db.write(Lane::Background, move |tx| {
            let outcomes = messages.into_iter().map(|message| {
                if message.payload.len() > MESSAGE_MAX_BYTES {
                    return Ok(PublishOutcome::Rejected(format!("larger than {MESSAGE_MAX_BYTES} bytes")));
                }
                if message.topic.ends_with(DEAD_LETTER_SUFFIX) {
                    dead_letters::insert(tx, &message, died_at)?;
                } else {
                    append::append(tx, message)?;
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
