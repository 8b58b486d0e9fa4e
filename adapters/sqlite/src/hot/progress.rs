//! How far the group of the scores has come in the log of the same file.

use async_trait::async_trait;
use madang_engine_sqlite::PART;
use madang_event::Topic;
use madang_hot_article::Progress;
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::GroupId;

use crate::{Sqlite, SqliteLog};

/// The progress of a consumer group by the embedded log: its topics and the rungs of its ladder.
#[derive(Clone)]
pub struct SqliteProgress {
    log: SqliteLog,
    group: GroupId,
}

impl SqliteProgress {
    /// The progress of `group` in the log in `db`.
    pub fn new(db: Sqlite, group: GroupId) -> Self {
        Self { log: SqliteLog::new(db), group }
    }
}

#[async_trait]
impl Progress for SqliteProgress {
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError> {
        let topics = Topic::ALL.map(|topic| topic.name().to_owned());
        let caught_up = self.log.caught_up(&self.group, &topics, before).await;
        caught_up.map_err(|outage| StoreError::unavailable(PART, outage.to_string()))
    }
}
