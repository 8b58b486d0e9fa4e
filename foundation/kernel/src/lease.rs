//! Leases of node numbers: who may issue ids under which number, and until which id time.

use crate::StoreError;

/// The number of an issuing process, 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub u8);

/// The right to issue ids of `node` with times in `from_ms..until_ms` (Unix milliseconds).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLease {
    /// The leased number.
    pub node: NodeId,
    /// Where an earlier holder of the number ended; ids start here.
    pub from_ms: i64,
    /// No id carries this time or a later one.
    pub until_ms: i64,
}

/// Where leases are kept: a table in the relational store.
#[async_trait::async_trait]
pub trait NodeLeases: Send + Sync {
    /// Takes a number that nobody holds, for `ttl_ms` from the later of now and the end of its last lease.
    async fn acquire(&self, ttl_ms: i64) -> Result<NodeLease, StoreError>;
    /// Extends a lease that is still ours to `ttl_ms` from now; `Ok(None)` when somebody else has taken the number.
    async fn renew(&self, lease: NodeLease, ttl_ms: i64) -> Result<Option<NodeLease>, StoreError>;
    /// Gives the lease back: ids below `unused_from_ms` were issued, the rest is free for the next holder.
    async fn release(&self, lease: NodeLease, unused_from_ms: i64) -> Result<(), StoreError>;
}
