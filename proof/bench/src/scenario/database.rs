//! A database without a server in front: what loads at the stores have in common.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use madang_kernel::{Clock, IdGenerator, NodeId, NodeLease, SystemClock};
use madang_sqlite::{Sqlite, SqliteOptions};

/// Longer than any run; nobody else issues ids for this database.
const LEASE_MS: i64 = 24 * 60 * 60 * 1_000;

/// How calls share physical transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commits {
    /// As the product does it.
    Grouped,
    /// Each call has a transaction and a COMMIT of its own, as most servers do it.
    OneEach,
}

/// Ids and the time, for whoever calls a store without its use case.
#[derive(Clone)]
pub(super) struct Issuer {
    pub(super) ids: Arc<IdGenerator>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Issuer {
    pub(super) fn new() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let now = clock.now().as_millis();
        let lease = NodeLease { node: NodeId(0), from_ms: now, until_ms: now + LEASE_MS };
        Self { ids: Arc::new(IdGenerator::new(clock.clone(), lease)), clock }
    }
}

/// An open database, with ids of its own.
pub(super) struct Database {
    pub(super) db: Sqlite,
    pub(super) issuer: Issuer,
}

impl Database {
    /// Opens the database in a data directory that no server holds, with the options a server would take.
    pub(super) fn open(data: &Path, commits: Commits) -> Result<Self> {
        let mut options = SqliteOptions::in_directory(data);
        if commits == Commits::OneEach {
            options.batch_max = 1;
        }
        let issuer = Issuer::new();
        Ok(Self { db: madang_sqlite::open(options, issuer.clock.clone())?, issuer })
    }
}
