//! A group's way through the log: reads after what it has polled, from memory while it keeps up and from the table when
//! it does not, and wakes up when one of its topics gets something.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::StoreError;
use madang_messaging::{Delivery, GroupId, Message, Outage, Polled, Position, Subscription, ToMessage};
use rusqlite::{Connection, OptionalExtension, params};
use tokio::time::{Instant, timeout_at};

use super::groups::{PARTITION, head};
use super::table::{self, TablePoll};
use super::tail::{Cursor, Entry, Follower, Taken};
use crate::errors::{PART, outage, sql_error};
use crate::{Priority, Sqlite};

const OLDEST: &str = include_str!("../../sql/log/oldest.sql");
const REJOIN: &str = include_str!("../../sql/log/rejoin.sql");

/// One poll brings no more payload than this, the last message aside (from the table: no more of each topic).
const POLL_BYTES_MAX: usize = 4 << 20;
/// One poll brings no more messages than this, whatever is asked.
const POLL_MAX: usize = 10_000;

pub(super) struct LogSubscription<E> {
    db: Sqlite<E>,
    group: GroupId,
    cursors: Vec<Cursor>,
    follower: Follower,
    /// How many marks had been made when the table last said that this group has none. Memory knows no marks, so a new
    /// one sends the next poll to the table.
    marks_seen: Option<u64>,
    /// Where the group goes on after a poll said that it fell behind. Stored at the poll after that one, so that a
    /// process that dies while it rebuilds learns it again.
    rejoin_at: Option<i64>,
}

impl<E: ToMessage> LogSubscription<E> {
    pub(super) async fn join(db: Sqlite<E>, group: GroupId, topics: Vec<String>) -> Result<Self, Outage> {
        let follower = db.tail().follow(&topics);
        let of = group.clone();
        let cursors = db.read(move |snapshot| {
            let stored = |topic: String| {
                let polled = table::state(snapshot, &of, &topic).map_err(sql_error)?.0;
                Ok(Cursor { topic, polled })
            };
            topics.into_iter().map(stored).collect::<Result<Vec<_>, _>>()
        });
        let cursors = cursors.await.map_err(outage)?;
        Ok(Self { db, group, cursors, follower, marks_seen: None, rejoin_at: None })
    }

    /// What there is now.
    async fn next(&mut self, max: usize) -> Result<Polled, Outage> {
        // Counted before the read: a mark that comes after it is seen by the poll after this one.
        let marks = self.db.tail().marks();
        if self.marks_seen == Some(marks) {
            match self.db.tail().take(&self.cursors, max, POLL_BYTES_MAX) {
                Taken::Entries(entries) => return Ok(Polled::Deliveries(self.hand_out(entries))),
                Taken::Closed => return Err(Outage::new(PART, "the database was closed")),
                Taken::OutOfReach => {}
            }
        }
        match self.poll_table(max).await.map_err(outage)? {
            TablePoll::FellBehind { head } => {
                self.go_on_from(head);
                Ok(Polled::FellBehind)
            }
            TablePoll::Found { deliveries, cursors } => {
                self.marks_seen = Some(marks);
                self.cursors = cursors;
                Ok(Polled::Deliveries(deliveries))
            }
        }
    }

    async fn poll_table(&self, max: usize) -> Result<TablePoll, StoreError> {
        let (group, cursors) = (self.group.clone(), self.cursors.clone());
        let read = move |snapshot: &Connection| table::poll(snapshot, &group, cursors, max, POLL_BYTES_MAX);
        self.db.read(move |snapshot| read(snapshot).map_err(sql_error)).await
    }

    fn hand_out(&mut self, entries: Vec<Entry>) -> Vec<Delivery> {
        let mut deliveries = Vec::with_capacity(entries.len());
        for (offset, message) in entries {
            if let Some(cursor) = self.cursors.iter_mut().find(|cursor| cursor.topic == message.topic) {
                cursor.polled = offset;
            }
            let position = Position { topic: message.topic.clone(), partition: PARTITION, offset };
            deliveries.push(Delivery { position, message: Arc::<Message>::unwrap_or_clone(message) });
        }
        deliveries
    }

    /// Stores where the group goes on; false when what comes after that has been trimmed meanwhile.
    async fn rejoin(&self, at: i64) -> Result<bool, StoreError> {
        let (group, cursors) = (self.group.clone(), self.cursors.clone());
        self.db.write(Priority::Background, move |tx| rejoin(tx, &group, &cursors, at).map_err(sql_error)).await
    }

    fn go_on_from(&mut self, head: i64) {
        for cursor in &mut self.cursors {
            cursor.polled = cursor.polled.max(head);
        }
        self.rejoin_at = Some(head);
    }
}

#[async_trait]
impl<E: ToMessage> Subscription for LogSubscription<E> {
    async fn poll(&mut self, max: usize, max_wait: Duration) -> Result<Polled, Outage> {
        let max = max.min(POLL_MAX);
        let deadline = Instant::now() + max_wait;
        if let Some(at) = self.rejoin_at
            && self.rejoin(at).await.map_err(outage)?
        {
            self.rejoin_at = None;
        }
        loop {
            match self.next(max).await? {
                Polled::Deliveries(found) if found.is_empty() => {}
                polled => return Ok(polled),
            }
            // What came after the read is remembered by the follower, so the wait below ends at once.
            if timeout_at(deadline, self.follower.woken()).await.is_err() {
                return Ok(Polled::Deliveries(Vec::new()));
            }
        }
    }

    async fn commit(&mut self, done: &[Position]) -> Result<(), Outage> {
        let (group, done) = (self.group.clone(), done.to_vec());
        let commit = self.db.write(Priority::Background, move |tx| tx.store_offsets(&group, &done));
        commit.await.map_err(outage)
    }
}

fn rejoin(tx: &Connection, group: &GroupId, cursors: &[Cursor], at: i64) -> rusqlite::Result<bool> {
    let oldest = tx.prepare_cached(OLDEST)?.query_row([], |row| row.get::<_, i64>(0)).optional()?;
    let next_kept = oldest.unwrap_or(head(tx)? + 1);
    if next_kept > at + 1 {
        return Ok(false);
    }
    let mut rejoin = tx.prepare_cached(REJOIN)?;
    for cursor in cursors {
        rejoin.execute(params![group.as_str(), cursor.topic, at])?;
    }
    Ok(true)
}
