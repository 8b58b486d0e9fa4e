//! Shards that take no writes because the command that moved them ended at the wrong moment. Every process looks after them:
//! where no command is at work any more, writes go on at the old server, or at the new one where it is the owner already. The rest
//! of the move waits for the next command.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use madang_messaging::Stop;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::{MoveError, MovePace, Mover, Step, lock_of_commands, unfinished_moves};
use crate::errors::SqlError;
use crate::server::connect_without_database;
use crate::topology::Topology;
use crate::{Database, MysqlOptions};

const IS_FREE_LOCK: &str = include_str!("../../sql/backbone/is_free_lock.sql");

/// Between two looks: well within the time that writers wait, so that they notice a pause and no refusal.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// After one that failed; whatever is away is not asked all the time.
const LOOK_AFTER_FAILURE: Duration = Duration::from_secs(3);
/// Whoever has the lock of commands helps already.
const LOCK_WAIT_S: u64 = 0;

impl Mover {
    /// Lets writers go on wherever they wait. Whether any did.
    pub(super) async fn settle(&mut self) -> Result<bool, MoveError> {
        let mut helped = false;
        for place in 0..self.units.len() {
            let part = self.units[place].part;
            while !self.units[place].is_served {
                match self.next(place).await? {
                    (Step::HandOver | Step::Lift, Some(record)) => self.go_on(part, Step::Lift, &record).await?,
                    (step @ (Step::Tell | Step::Open), Some(record)) => self.go_on(part, step, &record).await?,
                    _ => break,
                };
                helped = true;
            }
        }
        Ok(helped)
    }
}

/// Looks after the shards of one database until `stop`. Asks nobody while all of them take writes.
pub(crate) async fn look_after(topology: Arc<Topology>, stop: Stop) {
    let mut pause = LOOK_EVERY;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(pause) => pause = LOOK_EVERY,
        }
        if topology.placement().owners().fenced().next().is_none() {
            continue;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            settled = settle(&topology.options, &topology.database) => match settled {
                Ok(false) | Err(MoveError::Busy) => {}
                Ok(true) => tracing::warn!(
                    database = topology.name,
                    "a command that moved shards ended while writes waited for it; they go on, and `madang shards move` goes on with the move"
                ),
                Err(error) => {
                    tracing::warn!(database = topology.name, "shards take no writes, and cannot be helped: {error}");
                    pause = LOOK_AFTER_FAILURE;
                }
            },
        }
    }
}

/// Lets writers to a database go on, where no command is at work. Whether any waited.
async fn settle(options: &MysqlOptions, database: &Database) -> Result<bool, MoveError> {
    if !is_nobody_at_work(options).await? {
        return Ok(false);
    }
    let databases = [database.clone()];
    let unfinished = unfinished_moves(options, &databases).await;
    let targets: BTreeSet<u8> = unfinished.iter().map(|found| found.target).collect();
    let mut helped = false;
    for target in targets {
        let of_target = unfinished.iter().filter(|found| found.target == target);
        let shards = of_target.map(|found| found.shard).collect();
        let pace = MovePace::default();
        helped |= Mover::open_within(LOCK_WAIT_S, options, &databases, &shards, target, pace).await?.settle().await?;
    }
    Ok(helped)
}

/// A command holds its lock for as long as it lives, so that one look tells whether it does.
async fn is_nobody_at_work(options: &MysqlOptions) -> Result<bool, MoveError> {
    let url = options.servers.first().map_or("", |server| server.url.as_str());
    let mut conn = connect_without_database(options, url).await?;
    let free: Option<Option<i64>> =
        conn.exec_first(IS_FREE_LOCK, (lock_of_commands(options),)).await.map_err(SqlError::from)?;
    conn.disconnect().await.map_err(SqlError::from)?;
    Ok(free.flatten() == Some(1))
}
