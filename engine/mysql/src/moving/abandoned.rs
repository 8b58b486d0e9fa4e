//! Shards that take no writes because the command that moved them ended at the wrong moment. Every process looks after them:
//! where no command is at work any more, writes go on at the old server, or at the new one where it is the owner already. The rest
//! of the move waits for the next command.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use madang_kernel::ShardId;
use madang_messaging::Stop;
use tokio::time::sleep;

use super::{MoveError, MovePace, Mover, Step, unfinished_moves};
use crate::topology::Topology;
use crate::{Database, MysqlOptions};

/// Between two looks. Much longer than writers wait for a command that is at work.
const LOOK_EVERY: Duration = Duration::from_secs(2);

impl Mover {
    /// Lets writers go on wherever they wait.
    pub(super) async fn settle(&mut self) -> Result<(), MoveError> {
        for place in 0..self.units.len() {
            let part = self.units[place].part;
            while !self.units[place].is_served {
                match self.next(place).await? {
                    (Step::HandOver | Step::Lift, Some(record)) => self.go_on(part, Step::Lift, &record).await?,
                    (step @ (Step::Tell | Step::Open), Some(record)) => self.go_on(part, step, &record).await?,
                    _ => break,
                };
            }
        }
        Ok(())
    }
}

/// Looks after the shards of one database until `stop`. Asks nobody while all of them take writes.
pub(crate) async fn look_after(topology: Arc<Topology>, stop: Stop) {
    let mut before = BTreeSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(LOOK_EVERY) => {}
        }
        let fenced: BTreeSet<ShardId> = topology.placement().owners().fenced().collect();
        if fenced.intersection(&before).next().is_some() {
            tokio::select! {
                () = stop.cancelled() => return,
                settled = settle(&topology.options, &topology.database) => match settled {
                    Ok(()) => tracing::warn!(
                        database = topology.name,
                        "a command that moved shards ended while writes waited for it; they go on, and `madang shards move` goes on with the move"
                    ),
                    Err(MoveError::Busy) => {}
                    Err(error) => tracing::warn!(database = topology.name, "shards take no writes, and cannot be helped: {error}"),
                },
            }
        }
        before = fenced;
    }
}

async fn settle(options: &MysqlOptions, database: &Database) -> Result<(), MoveError> {
    let databases = [database.clone()];
    let unfinished = unfinished_moves(options, &databases).await;
    let targets: BTreeSet<u8> = unfinished.iter().map(|found| found.target).collect();
    for target in targets {
        let of_target = unfinished.iter().filter(|found| found.target == target);
        let shards = of_target.map(|found| found.shard).collect();
        Mover::open(options, &databases, &shards, target, MovePace::default()).await?.settle().await?;
    }
    Ok(())
}
