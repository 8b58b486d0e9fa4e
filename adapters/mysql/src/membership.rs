//! Which instances are alive, by the store's clock: for clusters without Redis, and for its outage.

use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::ShardId;
use madang_messaging::{InstanceId, Membership, Outage};

use crate::Mysql;
use crate::db::{snapshot, transact};
use crate::errors::{SqlError, outage};
use crate::transaction::{Tx, bytes};

const BEAT: &str = include_str!("../sql/membership/beat.sql");
const BURY: &str = include_str!("../sql/membership/bury.sql");
const LIVING: &str = include_str!("../sql/membership/living.sql");
const LEAVE: &str = include_str!("../sql/membership/leave.sql");

/// Membership in the members' database, on the home shard.
#[derive(Clone)]
pub struct MysqlMembership {
    db: Mysql,
}

impl MysqlMembership {
    /// The membership in `db`, which must be the members' database.
    pub fn new(db: Mysql) -> Self {
        Self { db }
    }

    async fn beat_in(
        &self,
        tx: &mut Tx<'_>,
        service: &str,
        instance: &InstanceId,
        dead_after: Duration,
    ) -> Result<Vec<InstanceId>, SqlError> {
        let now = self.db.store_now(tx).await?;
        tx.write(BEAT, vec![bytes(service), bytes(instance.as_str()), now.into()]).await?;
        tx.write(BURY, vec![bytes(service), silent_since(now, dead_after).into()]).await?;
        self.living_in(tx, service, dead_after).await
    }

    async fn living_in(
        &self,
        tx: &mut Tx<'_>,
        service: &str,
        dead_after: Duration,
    ) -> Result<Vec<InstanceId>, SqlError> {
        let now = self.db.store_now(tx).await?;
        let found = tx.read(LIVING, vec![bytes(service), silent_since(now, dead_after).into()]).await?;
        found.into_iter().map(|mut cells| cells.next::<String>().map(InstanceId::new)).collect()
    }
}

fn silent_since(now_ms: i64, dead_after: Duration) -> i64 {
    now_ms.saturating_sub(i64::try_from(dead_after.as_millis()).unwrap_or(i64::MAX))
}

#[async_trait]
impl Membership for MysqlMembership {
    async fn beat(
        &self,
        service: &str,
        instance: &InstanceId,
        dead_after: Duration,
    ) -> Result<Vec<InstanceId>, Outage> {
        let home = self.db.server_of(ShardId::HOME);
        let living: Result<_, SqlError> =
            transact!(self.db, home, |tx| self.beat_in(&mut tx, service, instance, dead_after));
        living.map_err(outage)
    }

    async fn living(&self, service: &str, dead_after: Duration) -> Result<Vec<InstanceId>, Outage> {
        let home = self.db.server_of(ShardId::HOME);
        let living: Result<_, SqlError> = snapshot!(self.db, home, |tx| self.living_in(&mut tx, service, dead_after));
        living.map_err(outage)
    }

    async fn leave(&self, service: &str, instance: &InstanceId) -> Result<(), Outage> {
        let home = self.db.server_of(ShardId::HOME);
        let values = || vec![bytes(service), bytes(instance.as_str())];
        let left: Result<u64, SqlError> = transact!(self.db, home, |tx| tx.write(LEAVE, values()));
        left.map(|_| ()).map_err(outage)
    }
}
