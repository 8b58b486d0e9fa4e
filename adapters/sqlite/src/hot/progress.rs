//! How far the group of the scores has come in the log of the same file.

use async_trait::async_trait;
use madang_hot_article::Progress;
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::GroupId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Sqlite;
use crate::errors::sql_error;

const PROGRESS: &str = include_str!("../../sql/hot/progress.sql");
const NEXT_UNREAD: &str = include_str!("../../sql/hot/next_unread.sql");

/// The progress of a consumer group by the embedded log: its topics and the rungs of its ladder.
#[derive(Clone)]
pub struct SqliteProgress {
    db: Sqlite,
    group: GroupId,
}

impl SqliteProgress {
    /// The progress of `group` in the log in `db`.
    pub fn new(db: Sqlite, group: GroupId) -> Self {
        Self { db, group }
    }
}

#[async_trait]
impl Progress for SqliteProgress {
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError> {
        let group = self.group.clone();
        self.db.read(move |tx| caught_up(tx, &group, before).map_err(sql_error)).await
    }
}

/// Entries of a topic stand in the order of their COMMIT, so the first unread one tells for all behind it. A group that
/// nobody knows has consumed nothing.
fn caught_up(tx: &Connection, group: &GroupId, before: Timestamp) -> rusqlite::Result<bool> {
    let mut topics = tx.prepare_cached(PROGRESS)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let topics: Vec<(String, i64, bool)> = topics.query_map([group.as_str()], read)?.collect::<Result<_, _>>()?;
    for (topic, done, fell_behind) in &topics {
        let mut next = tx.prepare_cached(NEXT_UNREAD)?;
        let occurred_at: Option<i64> = next.query_row(params![topic, done], |row| row.get(0)).optional()?;
        if *fell_behind || occurred_at.is_some_and(|occurred_at| occurred_at < before.as_millis()) {
            return Ok(false);
        }
    }
    Ok(!topics.is_empty())
}
