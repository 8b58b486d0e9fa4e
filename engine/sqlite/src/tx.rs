//! The transaction that a write runs in: the writer's connection, and what the calls in it appended to the log.
//!
//! Calls share a physical transaction, each in a savepoint of its own. What a call appended is forgotten with its
//! savepoint, so that a call that failed leaves nothing behind, in the file or here.

use std::cell::RefCell;
use std::ops::Deref;

use madang_kernel::{Id, StoreError};
use madang_messaging::{GroupId, Message, Position, ToMessage};
use rusqlite::{Connection, OptionalExtension, params};

use crate::errors::sql_error;
use crate::rows;

const APPEND: &str = include_str!("../sql/log/append.sql");
const COMMIT_OFFSET: &str = include_str!("../sql/log/commit.sql");
const HEAD: &str = include_str!("../sql/log/head.sql");

/// A transaction under way, for a program whose events are `E`. Statements run on the connection it dereferences to.
pub struct Tx<E> {
    connection: Connection,
    appended: RefCell<Appended<E>>,
}

/// What a transaction appended to the log, in the order of the positions.
pub(crate) struct Appended<E> {
    /// Every entry with its position.
    pub(crate) entries: Vec<(i64, Message)>,
    /// The events among them, as they were reported.
    pub(crate) events: Vec<E>,
    /// Whether some group was marked as fallen behind.
    pub(crate) marked_group: bool,
}

impl<E> Default for Appended<E> {
    fn default() -> Self {
        Self { entries: Vec::new(), events: Vec::new(), marked_group: false }
    }
}

impl<E> Deref for Tx<E> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl<E: ToMessage> Tx<E> {
    /// Writes an event to the log. It commits with the change it reports, or not at all.
    pub fn report(&self, event: E) -> Result<(), StoreError> {
        self.append(event.to_message()).map_err(sql_error)?;
        self.appended.borrow_mut().events.push(event);
        Ok(())
    }
}

impl<E> Tx<E> {
    /// Transactions on the one connection that writes.
    pub(crate) fn on(connection: Connection) -> Self {
        Self { connection, appended: RefCell::default() }
    }

    /// Stores that a consumer group has finished everything up to these positions. In the transaction of the group's own
    /// effect, no message is applied twice.
    pub fn store_offsets(&self, group: &GroupId, done: &[Position]) -> Result<(), StoreError> {
        let mut commit = self.prepare_cached(COMMIT_OFFSET).map_err(sql_error)?;
        for position in done {
            commit.execute(params![group.as_str(), position.topic, position.offset]).map_err(sql_error)?;
        }
        Ok(())
    }

    /// Appends a message that is no new event, such as a retry.
    pub(crate) fn append(&self, message: Message) -> rusqlite::Result<()> {
        let position = self.prepare_cached(APPEND)?.insert(params![
            message.event_id.raw(),
            message.topic,
            message.key,
            message.shard.number(),
            message.occurred_at.as_millis(),
            rows::headers_json(&message),
            &message.payload[..],
        ])?;
        self.appended.borrow_mut().entries.push((position, message));
        Ok(())
    }

    /// Notes that a group was marked as fallen behind.
    pub(crate) fn note_mark(&self) {
        self.appended.borrow_mut().marked_group = true;
    }

    /// Begins a transaction.
    pub(crate) fn begin(&self) -> rusqlite::Result<()> {
        self.execute_cached("BEGIN IMMEDIATE")
    }

    /// Runs `work` in a savepoint, and undoes it when it says false. Answers whether the transaction around it still is.
    pub(crate) fn savepoint(&self, work: impl FnOnce() -> bool) -> rusqlite::Result<bool> {
        self.execute_cached("SAVEPOINT one_call")?;
        let before = self.appended.borrow().size();
        let kept = work();
        // A full disk makes SQLite roll back everything by itself: then the savepoint is gone too.
        if self.is_autocommit() {
            return Ok(false);
        }
        if !kept {
            self.appended.borrow_mut().truncate(before);
            self.execute_cached("ROLLBACK TO one_call")?;
        }
        self.execute_cached("RELEASE one_call").map(|()| true)
    }

    /// The last position in the log, also when everything was trimmed.
    pub(crate) fn head(&self) -> rusqlite::Result<i64> {
        Ok(self.prepare_cached(HEAD)?.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    /// Commits, and hands over what was appended.
    pub(crate) fn commit(&self) -> rusqlite::Result<Appended<E>> {
        self.execute_cached("COMMIT")?;
        Ok(self.appended.take())
    }

    /// Ends a transaction that is lost, if SQLite has not done so already.
    pub(crate) fn roll_back(&self) -> rusqlite::Result<()> {
        self.appended.take();
        if self.is_autocommit() { Ok(()) } else { self.execute_cached("ROLLBACK") }
    }

    fn execute_cached(&self, sql: &str) -> rusqlite::Result<()> {
        self.prepare_cached(sql)?.execute([]).map(|_| ())
    }
}

/// How much had been appended when a savepoint began.
#[derive(Clone, Copy)]
struct Size {
    entries: usize,
    events: usize,
    marked_group: bool,
}

impl<E> Appended<E> {
    fn size(&self) -> Size {
        Size { entries: self.entries.len(), events: self.events.len(), marked_group: self.marked_group }
    }

    fn truncate(&mut self, to: Size) {
        self.entries.truncate(to.entries);
        self.events.truncate(to.events);
        self.marked_group = to.marked_group;
    }
}
