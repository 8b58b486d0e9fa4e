//! Whether the servers respond, for who tells operators.

use std::time::Duration;

use futures_util::future::join_all;
use madang_kernel::StoreError;
use mysql_async::prelude::Queryable;
use tokio::time::timeout;

use crate::Databases;
use crate::errors::SqlError;
use crate::server::Server;

/// How long a server may take to answer.
const PING_MAX_MS: u64 = 2_000;

impl Databases {
    /// Whether each server had no room for a write of this database a moment ago, by their numbers.
    pub fn are_full(&self) -> Vec<bool> {
        self.servers().iter().map(|server| server.health().is_full()).collect()
    }

    /// Pings every server, by their numbers.
    pub async fn ping(&self) -> Vec<Result<(), StoreError>> {
        let pings = self.servers().into_iter().map(|server| async move {
            let answer = timeout(Duration::from_millis(PING_MAX_MS), ping_one(&server)).await;
            let late = || Err(SqlError::Unavailable(format!("no answer within {PING_MAX_MS} ms")));
            answer.unwrap_or_else(|_| late()).map_err(StoreError::from)
        });
        join_all(pings).await
    }
}

async fn ping_one(server: &Server) -> Result<(), SqlError> {
    // A pooled connection may be one that its server has closed: a new one tells more.
    let mut attempts_left = server.read_attempts();
    loop {
        attempts_left -= 1;
        let answer = async { Ok(server.pooled().await?.ping().await?) };
        match server.health().guard(answer).await {
            Err(SqlError::Unavailable(_)) if attempts_left > 0 => {}
            answer => return answer,
        }
    }
}
