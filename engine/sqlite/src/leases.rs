//! Leases of node numbers where one process owns the data directory.
//!
//! The lock on the directory says who is alive, so number 0 is always free for whoever holds it; the row only says up to
//! which id time the ones before it may have issued ids.

use async_trait::async_trait;
use madang_kernel::{NodeId, NodeLease, NodeLeases, StoreError};
use madang_messaging::ToMessage;
use rusqlite::params;

use crate::Statements as _;
use crate::{Priority, Sqlite};

const FIND: &str = include_str!("../sql/lease/find.sql");
const STORE: &str = include_str!("../sql/lease/store.sql");
const RENEW: &str = include_str!("../sql/lease/renew.sql");
const RELEASE: &str = include_str!("../sql/lease/release.sql");

/// The number of the one process that holds the data directory.
const NODE: NodeId = NodeId(0);

/// Leases in SQLite.
pub struct SqliteLeases<E> {
    db: Sqlite<E>,
}

impl<E> SqliteLeases<E> {
    /// The leases of a database.
    pub fn new(db: Sqlite<E>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl<E: ToMessage> NodeLeases for SqliteLeases<E> {
    async fn acquire(&self, ttl_ms: i64) -> Result<NodeLease, StoreError> {
        let clock = self.db.clock().clone();
        self.db
            .write(Priority::Foreground, move |tx| {
                let ended = tx.find(FIND, [NODE.0], |row| row.get::<_, i64>(1))?;
                let from_ms = clock.now().as_millis().max(ended.unwrap_or(i64::MIN));
                let lease = NodeLease { node: NODE, from_ms, until_ms: from_ms.saturating_add(ttl_ms.max(0)) };
                tx.run(STORE, params![NODE.0, lease.from_ms, lease.until_ms])?;
                Ok(lease)
            })
            .await
    }

    async fn renew(&self, lease: NodeLease, ttl_ms: i64) -> Result<Option<NodeLease>, StoreError> {
        let clock = self.db.clock().clone();
        self.db
            .write(Priority::Foreground, move |tx| {
                // Ids up to the old end may be out already: an end never comes closer.
                let until_ms = clock.now().as_millis().saturating_add(ttl_ms.max(0)).max(lease.until_ms);
                let renewed = tx.run(RENEW, params![lease.node.0, lease.from_ms, lease.until_ms, until_ms])?;
                Ok((renewed == 1).then_some(NodeLease { until_ms, ..lease }))
            })
            .await
    }

    async fn release(&self, lease: NodeLease, unused_from_ms: i64) -> Result<(), StoreError> {
        let unused_from_ms = unused_from_ms.clamp(lease.from_ms, lease.until_ms);
        self.db
            .write(Priority::Foreground, move |tx| {
                tx.run(RELEASE, params![lease.node.0, lease.from_ms, lease.until_ms, unused_from_ms]).map(drop)
            })
            .await
    }
}
