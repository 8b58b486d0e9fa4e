//! Batch numbers: how a lane finds out whether a COMMIT whose reply was lost went through.
//!
//! Every batch writes its number into the row of its lane, in its own transaction. Afterwards the row says which was the
//! last to commit. It is read under a lock, which waits for a transaction that is still on its way; one that nobody will
//! end any more, because its connection is half open, is ended first.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::{Instant, sleep, timeout};

use crate::errors::SqlError;
use crate::server::Server;
use crate::transaction::Tx;

const MARK: &str = include_str!("../../sql/backbone/mark_batch.sql");
const COMMITTED: &str = include_str!("../../sql/backbone/committed_batch.sql");
const END_CONNECTION: &str = include_str!("../../sql/backbone/end_connection.sql");
const IDLE_CONNECTION: &str = include_str!("../../sql/backbone/idle_connection.sql");
const FORGET: &str = include_str!("../../sql/backbone/forget_batches.sql");

/// How long a lane looks up the outcome of a COMMIT before it reports it as unknown.
const LOOK_UP_MAX_MS: u64 = 60_000;
/// Between two queries.
const LOOK_UP_PAUSE_MS: u64 = 100;
/// How long one query may take; the server's lock wait ends before.
const QUERY_MAX_MS: u64 = 10_000;
/// Rows of lanes that have been silent for so long are removed.
const SILENT_LANE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Such rows removed when a lane connects.
const FORGET_SLICE: u32 = 100;

/// The connection of a lane, with the number of its last batch.
pub(super) struct LaneConn {
    pub(super) conn: Conn,
    /// The choice of a member by which it was made.
    generation: u64,
    lane_id: u64,
    number: u64,
}

impl LaneConn {
    /// Connects. Each connection is a lane of its own to the batch numbers, so no number ever comes twice.
    pub(super) async fn open(server: &Server) -> Result<Self, SqlError> {
        let generation = server.generation();
        let connecting = async {
            let mut conn = server.connect().await?;
            // Housekeeping: what it leaves, the next connection finds; a connection that fails here fails again at once.
            if let Err(error) = conn.exec_drop(FORGET, (mysql_async::Value::NULL, SILENT_LANE_MS, FORGET_SLICE)).await {
                tracing::debug!("cannot remove the batch numbers of lanes that have ended, they stay for now: {error}");
            }
            Ok(Self { conn, generation, lane_id: rand::random(), number: 0 })
        };
        server.health().guard(connecting).await
    }

    /// Whether it leads to the member of the server that is used now.
    pub(super) fn is_of(&self, server: &Server) -> bool {
        self.generation == server.generation()
    }

    pub(super) fn lane_id(&self) -> u64 {
        self.lane_id
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }
}

/// Writes a batch's number into its transaction.
pub(super) async fn mark(tx: &mut Tx<'_>, lane_id: u64, number: u64, now: mysql_async::Value) -> Result<(), SqlError> {
    tx.write(MARK, vec![lane_id.into(), number.into(), now]).await.map(|_| ())
}

/// What became of a COMMIT without a reply.
pub(super) enum CommitOutcome {
    /// It happened.
    Committed,
    /// It did not, and will not.
    RolledBack,
    /// The server was unreachable for too long.
    Unknown,
}

/// Asks until the server answers, for a bounded time.
pub(super) async fn look_up(server: &Server, lane_id: u64, number: u64, connection_id: u32) -> CommitOutcome {
    let deadline = Instant::now() + Duration::from_millis(LOOK_UP_MAX_MS);
    loop {
        let query = server.health().guard(committed_number(server, lane_id));
        match timeout(Duration::from_millis(QUERY_MAX_MS), query).await {
            Ok(Ok(committed)) if committed == Some(number) => return CommitOutcome::Committed,
            Ok(Ok(_)) => return CommitOutcome::RolledBack,
            Ok(Err(error)) if error.is_conflict() => end(server, connection_id).await,
            Ok(Err(_)) | Err(_) => {}
        }
        if Instant::now() >= deadline {
            return CommitOutcome::Unknown;
        }
        sleep(Duration::from_millis(LOOK_UP_PAUSE_MS)).await;
    }
}

async fn committed_number(server: &Server, lane_id: u64) -> Result<Option<u64>, SqlError> {
    let mut conn = server.connect().await?;
    let committed: Option<u64> = conn.exec_first(COMMITTED, (lane_id,)).await?;
    // The answer is here; a connection that does not close nicely closes by itself.
    drop(conn);
    Ok(committed)
}

/// Ends the connection that still holds the lock, unless it is at work: a COMMIT that waits for a replica would be let through
/// without one, and what it wrote could be lost by a failover. After a failover its number may be another of ours: that one
/// then finds out by itself, as this one did.
async fn end(server: &Server, connection_id: u32) {
    let ended = async {
        let mut conn = server.connect().await?;
        let is_idle: Option<u8> = conn.exec_first(IDLE_CONNECTION, (connection_id,)).await?;
        if is_idle.is_some() {
            conn.exec_drop(END_CONNECTION, (connection_id,)).await?;
        }
        Ok::<_, SqlError>(())
    };
    if let Ok(Err(error)) = timeout(Duration::from_millis(QUERY_MAX_MS), ended).await {
        tracing::debug!(connection_id, "cannot end a lost connection on the server: {error}");
    }
}
