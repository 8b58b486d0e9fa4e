//! Which instances are alive, by this store's clock.

use std::time::Duration;

use async_trait::async_trait;
use madang_messaging::{InstanceId, Membership, Outage};
use rusqlite::{Connection, params};

use crate::errors::{outage, sql_error};
use crate::{Lane, Sqlite};

const BEAT: &str = include_str!("../sql/membership/beat.sql");
const BURY: &str = include_str!("../sql/membership/bury.sql");
const LIVING: &str = include_str!("../sql/membership/living.sql");
const LEAVE: &str = include_str!("../sql/membership/leave.sql");

/// Membership in SQLite.
#[derive(Clone)]
pub struct SqliteMembership {
    db: Sqlite,
}

impl SqliteMembership {
    /// The membership of a database.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }

    fn silent_since(now_ms: i64, dead_after: Duration) -> i64 {
        now_ms.saturating_sub(i64::try_from(dead_after.as_millis()).unwrap_or(i64::MAX))
    }
}

#[async_trait]
impl Membership for SqliteMembership {
    async fn beat(
        &self,
        service: &str,
        instance: &InstanceId,
        dead_after: Duration,
    ) -> Result<Vec<InstanceId>, Outage> {
        let (service, instance, clock) = (service.to_owned(), instance.clone(), self.db.clock().clone());
        let beat = self.db.write(Lane::People, move |tx| {
            let now = clock.now().as_millis();
            let since = Self::silent_since(now, dead_after);
            let beaten = tx
                .prepare_cached(BEAT)
                .and_then(|mut beat| beat.execute(params![service, instance.as_str(), now]))
                .and_then(|_| tx.prepare_cached(BURY)?.execute(params![service, since]))
                .and_then(|_| living(tx, &service, since));
            beaten.map_err(sql_error)
        });
        beat.await.map_err(outage)
    }

    async fn living(&self, service: &str, dead_after: Duration) -> Result<Vec<InstanceId>, Outage> {
        let (service, clock) = (service.to_owned(), self.db.clock().clone());
        let read = self.db.read(move |snapshot| {
            let since = Self::silent_since(clock.now().as_millis(), dead_after);
            living(snapshot, &service, since).map_err(sql_error)
        });
        read.await.map_err(outage)
    }

    async fn leave(&self, service: &str, instance: &InstanceId) -> Result<(), Outage> {
        let (service, instance) = (service.to_owned(), instance.clone());
        let leave = self.db.write(Lane::People, move |tx| {
            tx.prepare_cached(LEAVE)
                .and_then(|mut leave| leave.execute(params![service, instance.as_str()]))
                .map_err(sql_error)
        });
        leave.await.map(|_| ()).map_err(outage)
    }
}

fn living(connection: &Connection, service: &str, since: i64) -> rusqlite::Result<Vec<InstanceId>> {
    let mut living = connection.prepare_cached(LIVING)?;
    let rows = living.query_map(params![service, since], |row| row.get::<_, String>(0).map(InstanceId::new))?;
    rows.collect()
}
