//! The log as consumer groups and followers of commits see it, with calls that fail, batches that are lost and a tail that
//! is short.

mod committed;
mod following;

use std::sync::Arc;

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, StoreError, SystemClock, Timestamp};
use madang_messaging::{GroupId, Message, Subscription, ToMessage};
use rusqlite::Connection;

use super::SqliteLog;
use crate::errors::sql_error;
use crate::{Priority, Sqlite, SqliteOptions};

/// What happened in the program of these tests: something, with a number.
struct Happened(i64);

impl ToMessage for Happened {
    fn to_message(&self) -> Message {
        message("happened", self.0)
    }
}

/// A database in a directory of its own.
struct Site {
    db: Sqlite<Happened>,
    log: SqliteLog<Happened>,
    _directory: tempfile::TempDir,
}

impl Site {
    fn with(change: impl FnOnce(&mut SqliteOptions)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut options = SqliteOptions::in_directory(directory.path());
        change(&mut options);
        let db = Sqlite::open(options, &refinery::Runner::new(&[]), Arc::new(SystemClock)).unwrap();
        Self { log: SqliteLog::new(db.clone()), db, _directory: directory }
    }

    /// Appends in one call, which then ends as told.
    async fn append(&self, messages: Vec<Message>, end: End) -> Result<(), StoreError> {
        let call = self.db.write(Priority::Foreground, move |tx| {
            for message in messages {
                tx.append(message).map_err(sql_error)?;
            }
            end.happen(tx)
        });
        call.await
    }

    async fn follow(&self, group: &str, topics: &[&str]) -> Box<dyn Subscription> {
        use madang_messaging::EventLog;
        let topics: Vec<_> = topics.iter().map(|topic| (*topic).to_owned()).collect();
        self.log.subscribe(&GroupId::new(group), &topics).await.unwrap()
    }
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Well,
    /// It fails alone.
    Failing,
    /// It takes the whole batch along.
    Losing,
}

impl End {
    fn happen(self, tx: &Connection) -> Result<(), StoreError> {
        match self {
            Self::Well => Ok(()),
            Self::Failing => Err(StoreError::unavailable("test", "as asked")),
            Self::Losing => tx.execute_batch("ROLLBACK").map_err(sql_error),
        }
    }
}

fn message(topic: &str, number: i64) -> Message {
    Message {
        event_id: EventId::from_raw(number),
        topic: topic.to_owned(),
        key: "key".to_owned(),
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(number),
        headers: Vec::new(),
        payload: Bytes::from_static(b"{}"),
    }
}
