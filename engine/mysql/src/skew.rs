//! How far the clock of this process is from those of the servers. Leases and ages go by the servers' clocks and ids by this
//! one, so that what works on two hosts needs clocks that agree.

use std::time::Instant;

use futures_util::future::join_all;
use madang_kernel::StoreError;

use crate::Databases;
use crate::errors::SqlError;
use crate::server::Server;

const SERVER_NOW: &str = include_str!("../sql/backbone/server_now.sql");

/// The distance of two clocks, as one question and its answer tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSkew {
    /// Milliseconds by which this process is ahead of the server; negative when it is behind.
    pub ahead_ms: i64,
    /// By how much that may be wrong: half the time that the answer took.
    pub uncertainty_ms: u64,
}

impl ClockSkew {
    /// The least distance that the measurement leaves possible.
    pub fn at_least_ms(self) -> u64 {
        self.ahead_ms.unsigned_abs().saturating_sub(self.uncertainty_ms)
    }
}

impl Databases {
    /// Asks every server for its time, by their numbers.
    pub async fn clock_skews(&self) -> Vec<Result<ClockSkew, StoreError>> {
        let asked = self.servers().into_iter().map(|server| async move { Ok(self.clock_skew(&server).await?) });
        join_all(asked).await
    }

    async fn clock_skew(&self, server: &Server) -> Result<ClockSkew, SqlError> {
        // The first question may have to open a connection, which takes longer on one way than on the other.
        drop(self.read(server, SERVER_NOW, Vec::new()).await?);
        let (asked_at, begun) = (self.clock().now().as_millis(), Instant::now());
        let told = self.read(server, SERVER_NOW, Vec::new()).await?.pop();
        let half_ms = u64::try_from(begun.elapsed().as_millis() / 2).unwrap_or(u64::MAX);
        let server_now: i64 = told.ok_or_else(|| SqlError::defect("the server did not tell its time"))?.next()?;
        let ahead_ms = asked_at.saturating_add_unsigned(half_ms).saturating_sub(server_now);
        Ok(ClockSkew { ahead_ms, uncertainty_ms: half_ms.saturating_add(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_accuses_no_clock() {
        let of = |ahead_ms, uncertainty_ms| ClockSkew { ahead_ms, uncertainty_ms }.at_least_ms();
        assert_eq!((of(3_600_000, 40), of(-3_600_000, 40), of(700, 900)), (3_599_960, 3_599_960, 0));
    }
}
