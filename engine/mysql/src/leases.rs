//! Leases of node numbers among many processes: a table on the home shard, by the store's clock.

use std::collections::BTreeMap;

use async_trait::async_trait;
use madang_kernel::{NodeId, NodeLease, NodeLeases, ShardId, StoreError};

use crate::errors::{PART, SqlError};
use crate::transaction::Tx;
use crate::{Databases, transact};

const LOCK: &str = include_str!("../sql/lease/lock.sql");
const ALL: &str = include_str!("../sql/lease/all.sql");
const STORE: &str = include_str!("../sql/lease/store.sql");
const RENEW: &str = include_str!("../sql/lease/renew.sql");
const END: &str = include_str!("../sql/lease/end.sql");
const RELEASE: &str = include_str!("../sql/lease/release.sql");
const HELD: &str = include_str!("../sql/lease/held.sql");
const RAISE: &str = include_str!("../sql/lease/raise.sql");

/// The row that is no number's: locked by whoever takes one, and its end is below every lease that is taken.
const FLOOR_ROW: u16 = 65_535;

/// Leases in the table `node_lease` of a database, which the program's own migrations make by [`Self::TABLE`].
#[derive(Clone)]
pub struct MysqlLeases {
    db: Databases,
}

impl MysqlLeases {
    /// The table that leases need.
    pub const TABLE: &str = include_str!("../tables/node_lease.sql");

    /// The leases in `db`.
    pub fn new(db: &Databases) -> Self {
        Self { db: db.clone() }
    }

    /// How many numbers are held now: how many processes are at work.
    pub async fn held(&self) -> Result<u64, SqlError> {
        transact!(self.db, ShardId::HOME, |tx| self.held_in(&mut tx))
    }

    async fn held_in(&self, tx: &mut Tx<'_>) -> Result<u64, SqlError> {
        let now = self.db.store_now(tx).await?;
        tx.first(HELD, vec![now.into()]).await?.map_or(Ok(0), |mut cells| cells.next())
    }

    /// Lets no later lease begin below a time, in the caller's transaction on the home shard: for data that brings ids with
    /// it.
    pub async fn begin_above(tx: &mut Tx<'_>, until_ms: i64) -> Result<(), SqlError> {
        tx.write(RAISE, vec![until_ms.into()]).await.map(|_| ())
    }

    async fn take(&self, tx: &mut Tx<'_>, ttl_ms: i64) -> Result<Option<NodeLease>, SqlError> {
        let now = self.db.store_now(tx).await?;
        tx.write(LOCK, Vec::new()).await?;
        let mut ends = BTreeMap::new();
        for mut cells in tx.read(ALL, Vec::new()).await? {
            ends.insert(cells.next::<u8>()?, cells.next::<i64>()?);
        }
        let Some(node) = free(&ends, now) else { return Ok(None) };
        // Data that moved here brought ids with it: none is issued below them, whatever the clocks say.
        let floor = tx.first(END, vec![FLOOR_ROW.into()]).await?.map_or(Ok(0), |mut cells| cells.next::<i64>())?;
        let from_ms = now.max(floor).max(ends.get(&node).copied().unwrap_or(i64::MIN));
        let until_ms = from_ms.saturating_add(ttl_ms.max(1));
        tx.write(STORE, vec![node.into(), from_ms.into(), until_ms.into()]).await?;
        Ok(Some(NodeLease { node: NodeId(node), from_ms, until_ms }))
    }

    async fn extend(&self, tx: &mut Tx<'_>, lease: NodeLease, ttl_ms: i64) -> Result<Option<NodeLease>, SqlError> {
        let until_ms = self.db.store_now(tx).await?.saturating_add(ttl_ms.max(0));
        let NodeLease { node, from_ms, until_ms: known } = lease;
        let renewed = tx.write(RENEW, vec![until_ms.into(), node.0.into(), from_ms.into(), known.into()]).await?;
        if renewed == 0 {
            return Ok(None);
        }
        // An end never comes closer, and an earlier renewal may have got through without its reply.
        let end = tx.first(END, vec![node.0.into()]).await?;
        let until_ms = end.ok_or_else(|| SqlError::defect("the lease is gone"))?.next()?;
        Ok(Some(NodeLease { until_ms, ..lease }))
    }
}

/// A number that nobody holds: one whose lease has ended, the longest ago first, else one that nobody ever had.
fn free(ends: &BTreeMap<u8, i64>, now: i64) -> Option<u8> {
    let never_held = || (0..=u8::MAX).find(|node| !ends.contains_key(node));
    let ended = ends.iter().filter(|(_, end)| **end <= now).min_by_key(|(_, end)| **end).map(|(node, _)| *node);
    ended.or_else(never_held)
}

#[async_trait]
impl NodeLeases for MysqlLeases {
    async fn acquire(&self, ttl_ms: i64) -> Result<NodeLease, StoreError> {
        let taken: Result<Option<NodeLease>, SqlError> =
            transact!(self.db, ShardId::HOME, |tx| self.take(&mut tx, ttl_ms));
        taken?.ok_or_else(|| StoreError::unavailable(PART, "every node number is held"))
    }

    async fn renew(&self, lease: NodeLease, ttl_ms: i64) -> Result<Option<NodeLease>, StoreError> {
        let renewed: Result<_, SqlError> = transact!(self.db, ShardId::HOME, |tx| self.extend(&mut tx, lease, ttl_ms));
        Ok(renewed?)
    }

    async fn release(&self, lease: NodeLease, unused_from_ms: i64) -> Result<(), StoreError> {
        let NodeLease { node, from_ms, until_ms } = lease;
        let unused = unused_from_ms.clamp(from_ms, until_ms);
        let values = || vec![unused.into(), unused.into(), node.0.into(), from_ms.into(), until_ms.into()];
        let released: Result<u64, SqlError> = transact!(self.db, ShardId::HOME, |tx| tx.write(RELEASE, values()));
        released?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_when_its_lease_has_ended() {
        assert_eq!(free(&BTreeMap::new(), 5), Some(0));
        assert_eq!(free(&BTreeMap::from([(0, 10)]), 5), Some(1));
        assert_eq!(free(&BTreeMap::from([(0, 10), (1, 3), (2, 2)]), 5), Some(2));
        let held: BTreeMap<u8, i64> = (0..=255).map(|node| (node, 10)).collect();
        assert_eq!(free(&held, 5), None);
        assert_eq!(free(&held, 10), Some(0));
    }
}
