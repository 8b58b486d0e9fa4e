//! A group's way through the log: reads after what it has polled, wakes up when something is appended.

use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::StoreError;
use madang_messaging::{Delivery, GroupId, Outage, Polled, Position, Subscription};
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::groups::{PARTITION, head, store_done};
use crate::errors::{PART, outage, sql_error};
use crate::{Lane, Sqlite, rows};

const FIND_GROUP: &str = include_str!("../../sql/log/find_group.sql");
const READ: &str = include_str!("../../sql/log/read.sql");
const OLDEST: &str = include_str!("../../sql/log/oldest.sql");
const REJOIN: &str = include_str!("../../sql/log/rejoin.sql");

/// One poll brings no more of each topic than this, the last message aside.
const POLL_BYTES_MAX: usize = 4 << 20;
/// One poll brings no more messages than this, whatever is asked.
const POLL_MAX: usize = 10_000;

/// How far this subscription has read a topic; at or past what is stored.
#[derive(Debug, Clone)]
struct Cursor {
    topic: String,
    polled: i64,
}

pub(super) struct LogSubscription {
    db: Sqlite,
    group: GroupId,
    cursors: Vec<Cursor>,
    log_head: watch::Receiver<i64>,
    /// Where the group goes on after it was told that it fell behind. Stored at the poll after that one, so that a
    /// process that dies while it rebuilds is told again.
    rejoin_at: Option<i64>,
}

enum Look {
    Found(Vec<Delivery>),
    FellBehind { head: i64 },
}

impl LogSubscription {
    pub(super) async fn join(db: Sqlite, group: GroupId, topics: Vec<String>) -> Result<Self, Outage> {
        let cursors = topics.into_iter().map(|topic| Cursor { topic, polled: 0 }).collect();
        let log_head = db.log_head();
        let mut subscription = Self { db, group, cursors, log_head, rejoin_at: None };
        subscription.rewind().await?;
        Ok(subscription)
    }

    async fn look(&self, max: usize) -> Result<Look, StoreError> {
        let (group, cursors) = (self.group.clone(), self.cursors.clone());
        self.db.read(move |snapshot| look(snapshot, &group, &cursors, max).map_err(sql_error)).await
    }

    /// Stores where the group goes on; false when what comes after that has been trimmed meanwhile.
    async fn rejoin(&self, at: i64) -> Result<bool, StoreError> {
        let (group, cursors) = (self.group.clone(), self.cursors.clone());
        self.db.write(Lane::Background, move |tx| rejoin(tx, &group, &cursors, at).map_err(sql_error)).await
    }

    fn go_on_from(&mut self, head: i64) {
        for cursor in &mut self.cursors {
            cursor.polled = cursor.polled.max(head);
        }
        self.rejoin_at = Some(head);
    }
}

#[async_trait]
impl Subscription for LogSubscription {
    async fn poll(&mut self, max: usize, max_wait: Duration) -> Result<Polled, Outage> {
        let max = max.min(POLL_MAX);
        let deadline = Instant::now() + max_wait;
        if let Some(at) = self.rejoin_at
            && self.rejoin(at).await.map_err(outage)?
        {
            self.rejoin_at = None;
        }
        loop {
            // Armed before the log is read: what is appended after the look wakes the wait below.
            self.log_head.borrow_and_update();
            match self.look(max).await.map_err(outage)? {
                Look::FellBehind { head } => {
                    self.go_on_from(head);
                    return Ok(Polled::FellBehind);
                }
                Look::Found(found) if !found.is_empty() => {
                    advance(&mut self.cursors, &found);
                    return Ok(Polled::Deliveries(found));
                }
                Look::Found(_) => {}
            }
            match timeout_at(deadline, self.log_head.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(Outage::new(PART, "the database was closed")),
                Err(_) => return Ok(Polled::Deliveries(Vec::new())),
            }
        }
    }

    async fn commit(&mut self, done: &[Position]) -> Result<(), Outage> {
        let (group, done) = (self.group.clone(), done.to_vec());
        let commit = self.db.write(Lane::Background, move |tx| store_done(tx, &group, &done).map_err(sql_error));
        commit.await.map_err(outage)
    }

    async fn rewind(&mut self) -> Result<(), Outage> {
        let (group, mut cursors) = (self.group.clone(), self.cursors.clone());
        let rewound = self.db.read(move |snapshot| {
            for cursor in &mut cursors {
                cursor.polled = state(snapshot, &group, &cursor.topic).map_err(sql_error)?.0;
            }
            Ok(cursors)
        });
        self.cursors = rewound.await.map_err(outage)?;
        if let Some(at) = self.rejoin_at {
            self.go_on_from(at);
        }
        Ok(())
    }
}

fn state(connection: &Connection, group: &GroupId, topic: &str) -> rusqlite::Result<(i64, bool)> {
    let mut find = connection.prepare_cached(FIND_GROUP)?;
    let found = find.query_row(params![group.as_str(), topic], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(found.unwrap_or((0, false)))
}

fn look(snapshot: &Connection, group: &GroupId, cursors: &[Cursor], max: usize) -> rusqlite::Result<Look> {
    for cursor in cursors {
        if state(snapshot, group, &cursor.topic)?.1 {
            return Ok(Look::FellBehind { head: head(snapshot)? });
        }
    }
    let mut found = Vec::new();
    for cursor in cursors {
        read(snapshot, cursor, max, &mut found)?;
    }
    if cursors.len() > 1 {
        found.sort_unstable_by_key(|delivery| delivery.position.offset);
        found.truncate(max);
    }
    Ok(Look::Found(found))
}

fn read(snapshot: &Connection, cursor: &Cursor, max: usize, found: &mut Vec<Delivery>) -> rusqlite::Result<()> {
    let mut bytes = 0;
    let mut statement = snapshot.prepare_cached(READ)?;
    let mut entries = statement.query(params![cursor.topic, cursor.polled, max as i64])?;
    while bytes < POLL_BYTES_MAX
        && let Some(row) = entries.next()?
    {
        let message = rows::message(row, 1)?;
        bytes += message.payload.len();
        let position = Position { topic: cursor.topic.clone(), partition: PARTITION, offset: row.get(0)? };
        found.push(Delivery { position, message });
    }
    Ok(())
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

fn advance(cursors: &mut [Cursor], found: &[Delivery]) {
    for cursor in cursors {
        if let Some(last) = found.iter().rev().find(|delivery| delivery.position.topic == cursor.topic) {
            cursor.polled = last.position.offset;
        }
    }
}
