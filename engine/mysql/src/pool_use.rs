//! How much of each pool is in use, for who tells operators: a pool that is used up is a queue that no other figure shows.

use std::sync::atomic::Ordering;

use crate::Databases;

/// The connections of one pool at this moment. Those of lanes are not among them: they belong to no pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Taken out by somebody.
    pub used: usize,
    /// Open, and nobody's at the moment.
    pub idle: usize,
    /// Callers that wait for one.
    pub waiting: usize,
    /// How many there may be.
    pub max: usize,
}

impl Databases {
    /// The pool of each server, by its number.
    pub fn pools(&self) -> Vec<PoolUse> {
        let pool = self.servers().into_iter().map(|server| {
            let found = server.pool().metrics();
            PoolUse {
                used: found.connections_in_use.load(Ordering::Relaxed),
                idle: found.connections_in_pool.load(Ordering::Relaxed),
                waiting: found.active_wait_requests.load(Ordering::Relaxed),
                max: server.read_attempts() - 1,
            }
        });
        pool.collect()
    }
}
