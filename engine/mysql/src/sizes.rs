//! How many rows the engine's own tables have: those that must stay bounded.

use madang_kernel::StoreError;

use crate::Databases;

const OUTBOX: &str = include_str!("../sql/outbox/size.sql");
const INBOX: &str = include_str!("../sql/inbox/size.sql");
const DEAD_LETTERS: &str = include_str!("../sql/dead_letter/count.sql");

/// Rows of the tables that must stay bounded, on all servers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Messages that wait for a relay.
    pub outbox: u64,
    /// Events that consumer groups remember.
    pub inbox: u64,
    /// Messages given up.
    pub dead_letters: u64,
}

impl Databases {
    /// Rows of the tables that must stay bounded. Counts them, so ask every few minutes, not every second.
    pub async fn sizes(&self) -> Result<Sizes, StoreError> {
        Ok(Sizes {
            outbox: self.count(OUTBOX).await?,
            inbox: self.count(INBOX).await?,
            dead_letters: self.count(DEAD_LETTERS).await?,
        })
    }

    /// The sum over all servers of what a statement counts of the shards of each.
    pub async fn count(&self, sql: &'static str) -> Result<u64, StoreError> {
        let mut sum = 0;
        for (server, shards) in self.holders() {
            for mut cells in self.read_among(server, sql, &shards, Vec::new()).await? {
                sum += cells.next::<u64>()?;
            }
        }
        Ok(sum)
    }
}
