//! Consumer groups: who reads the log, and how far each has come.

use madang_messaging::{GroupId, Outage, ToMessage};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteLog;
use crate::Priority;
use crate::Statements as _;
use crate::errors::{outage, sql_error};

const REGISTER: &str = include_str!("../../sql/log/register.sql");
const FORGET: &str = include_str!("../../sql/log/forget_group.sql");
const GROUPS: &str = include_str!("../../sql/log/groups.sql");
const HEAD: &str = include_str!("../../sql/log/head.sql");

/// The one partition that every topic has here.
pub(super) const PARTITION: u32 = 0;

/// Where a group stands in a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupState {
    /// The group.
    pub group: GroupId,
    /// The topic.
    pub topic: String,
    /// The last position it has finished.
    pub done: i64,
    /// It no longer holds the log back, and learns so at its next poll.
    pub fell_behind: bool,
}

impl GroupState {
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            group: GroupId::new(row.get::<_, String>(0)?),
            topic: row.get(1)?,
            done: row.get(2)?,
            fell_behind: row.get(3)?,
        })
    }
}

impl<E: ToMessage> SqliteLog<E> {
    /// Makes a group known from the oldest entry on; from now on the log keeps what it has not read.
    pub async fn register_group(&self, group: &GroupId, topics: &[String]) -> Result<(), Outage> {
        self.register(group, topics, |_| Ok(0)).await
    }

    /// Makes a group known from the end of the log on, for one whose data is rebuilt from its owners anyway. A group that
    /// is known already stays where it is: forget it first.
    pub async fn register_group_at_head(&self, group: &GroupId, topics: &[String]) -> Result<(), Outage> {
        self.register(group, topics, head).await
    }

    async fn register(
        &self,
        group: &GroupId,
        topics: &[String],
        start: fn(&Connection) -> rusqlite::Result<i64>,
    ) -> Result<(), Outage> {
        let (group, topics) = (group.clone(), topics.to_vec());
        let register = self.db.write(Priority::Foreground, move |tx| {
            let done = start(tx).map_err(sql_error)?;
            for topic in &topics {
                tx.run(REGISTER, params![group.as_str(), topic, done])?;
            }
            Ok(())
        });
        register.await.map_err(outage)
    }

    /// Forgets a group that will not come back, so that it no longer holds the log back.
    pub async fn forget_group(&self, group: &GroupId) -> Result<(), Outage> {
        let group = group.clone();
        let forget = self.db.write(Priority::Background, move |tx| tx.run(FORGET, [group.as_str()]));
        forget.await.map(|_| ()).map_err(outage)
    }

    /// Every group in every topic.
    pub async fn groups(&self) -> Result<Vec<GroupState>, Outage> {
        self.db.read(|snapshot| groups(snapshot).map_err(sql_error)).await.map_err(outage)
    }
}

/// Every group in every topic, as a snapshot or a transaction has them.
pub fn groups(connection: &Connection) -> rusqlite::Result<Vec<GroupState>> {
    connection.prepare_cached(GROUPS)?.query_map([], GroupState::from_row)?.collect()
}

/// The last position ever given.
pub(super) fn head(connection: &Connection) -> rusqlite::Result<i64> {
    Ok(connection.prepare_cached(HEAD)?.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
}
