//! The inbox: an effect, the memory of its event and the group's offset commit together or not at all.

use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::{EventId, Id};
use madang_messaging::{Applied, GroupId, HandlerError, Inbox, Outage, Position};
use rusqlite::{Connection, params};

use crate::errors::{Failure, outage, sql_error};
use crate::log::store_done;
use crate::{Lane, Sqlite};

const REMEMBER: &str = include_str!("../sql/inbox/remember.sql");
const FORGET: &str = include_str!("../sql/inbox/forget.sql");

/// Events forgotten in one transaction.
const FORGET_SLICE: usize = 500;

/// What a handler does inside the transaction.
pub type SqliteEffect = Box<dyn FnOnce(&Connection) -> Result<(), HandlerError> + Send>;

/// The inbox in SQLite.
#[derive(Clone)]
pub struct SqliteInbox {
    db: Sqlite,
}

impl SqliteInbox {
    /// The inbox of a database.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }
}

#[async_trait]
impl Inbox for SqliteInbox {
    type Effect = SqliteEffect;

    async fn apply_once(
        &self,
        group: &GroupId,
        event: EventId,
        position: Option<&Position>,
        effect: Self::Effect,
    ) -> Result<Applied, HandlerError> {
        let (group, position) = (group.clone(), position.cloned());
        let now = self.db.clock().now().as_millis();
        let apply = self.db.write_or(Lane::Background, move |tx| {
            let remembered = tx
                .prepare_cached(REMEMBER)
                .and_then(|mut remember| remember.execute(params![group.as_str(), event.raw(), now]))
                .map_err(sql_error)?;
            let applied = if remembered == 1 {
                effect(tx).map_err(Failure)?;
                Applied::Now
            } else {
                Applied::Before
            };
            store_done(tx, &group, position.as_slice()).map_err(sql_error)?;
            Ok(applied)
        });
        apply.await.map_err(|Failure(error)| error)
    }

    async fn forget_older_than(&self, age: Duration) -> Result<u64, Outage> {
        let age_ms = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let before = self.db.clock().now().as_millis().saturating_sub(age_ms);
        let mut forgotten = 0;
        loop {
            let forget = self.db.write(Lane::Background, move |tx| {
                tx.prepare_cached(FORGET)
                    .and_then(|mut forget| forget.execute(params![before, FORGET_SLICE as i64]))
                    .map_err(sql_error)
            });
            let slice = forget.await.map_err(outage)?;
            forgotten += slice as u64;
            if slice < FORGET_SLICE {
                return Ok(forgotten);
            }
        }
    }
}
