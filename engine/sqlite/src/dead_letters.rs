//! Dead letters: messages that were given up, kept until a person replays or dismisses them.

use async_trait::async_trait;
use madang_kernel::{Id, Timestamp};
use madang_messaging::{DeadLetter, DeadLetterId, DeadLetters, Message, Outage, ToMessage};
use rusqlite::{Connection, Row, params};

use crate::Statements as _;
use crate::errors::outage;
use crate::{Priority, Sqlite, rows};

const INSERT: &str = include_str!("../sql/dead_letter/insert.sql");
const LIST: &str = include_str!("../sql/dead_letter/list.sql");
const FIND: &str = include_str!("../sql/dead_letter/find.sql");
const REMOVE: &str = include_str!("../sql/dead_letter/remove.sql");
const COUNT: &str = include_str!("../sql/dead_letter/count.sql");

/// One answer lists no more letters than this.
const LIST_MAX: usize = 1_000;

/// The dead letters in SQLite.
pub struct SqliteDeadLetters<E> {
    db: Sqlite<E>,
}

impl<E> SqliteDeadLetters<E> {
    /// The dead letters of a database.
    pub fn new(db: Sqlite<E>) -> Self {
        Self { db }
    }
}

/// Keeps a message as a dead letter, in the caller's transaction.
pub(crate) fn insert(tx: &Connection, message: &Message, died_at: Timestamp) -> rusqlite::Result<i64> {
    tx.prepare_cached(INSERT)?.insert(params![
        message.event_id.raw(),
        message.topic,
        message.key,
        message.shard.number(),
        message.occurred_at.as_millis(),
        rows::headers_json(message),
        &message.payload[..],
        died_at.as_millis(),
    ])
}

#[async_trait]
impl<E: ToMessage> DeadLetters for SqliteDeadLetters<E> {
    async fn list(&self, after: Option<&DeadLetterId>, limit: usize) -> Result<Vec<DeadLetter>, Outage> {
        let after = match after {
            // A name that no letter can have: nothing comes after it.
            Some(id) => number(id).unwrap_or(i64::MAX),
            None => 0,
        };
        let limit = rows::limit(limit.min(LIST_MAX));
        let list = self.db.read(move |snapshot| snapshot.list(LIST, [after, limit], letter));
        list.await.map_err(outage)
    }

    async fn find(&self, id: &DeadLetterId) -> Result<Option<DeadLetter>, Outage> {
        let Some(id) = number(id) else { return Ok(None) };
        let find = self.db.read(move |snapshot| snapshot.find(FIND, [id], letter));
        find.await.map_err(outage)
    }

    async fn remove(&self, id: &DeadLetterId) -> Result<bool, Outage> {
        let Some(id) = number(id) else { return Ok(false) };
        let remove = self.db.write(Priority::Foreground, move |tx| tx.run(REMOVE, [id]));
        remove.await.map(|removed| removed == 1).map_err(outage)
    }

    async fn count(&self) -> Result<u64, Outage> {
        let count = self.db.read(|snapshot| snapshot.one(COUNT, [], |row| row.get(0)));
        count.await.map(|count: i64| count.unsigned_abs()).map_err(outage)
    }
}

fn number(id: &DeadLetterId) -> Option<i64> {
    id.0.parse().ok()
}

fn letter(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    Ok(DeadLetter {
        id: DeadLetterId(row.get::<_, i64>(0)?.to_string()),
        message: rows::message(row, 1)?,
        died_at: Timestamp::from_millis(row.get(8)?),
    })
}
