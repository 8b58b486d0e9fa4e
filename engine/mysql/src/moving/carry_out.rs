//! The steps of a move as they are carried out: statements on the two servers of a shard, and how long writers may wait for them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use madang_kernel::ShardId;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::ends::Record;
use super::rows::{Compare, Way};
use super::switch::{Hands, announce};
use super::table::moved_tables;
use super::{MoveError, Mover, Part, Phase, Step, watch};
use crate::topology::{READ_EVERY, READ_EVERY_MOVING};
use crate::transaction::Tx;

const BEGIN: &str = include_str!("../../sql/move/begin.sql");
const FORGET: &str = include_str!("../../sql/move/forget.sql");

/// Changes that are few enough to let writers wait for them.
const FEW_CHANGES: usize = 100;
/// Rounds of catching up before writers have to wait anyway.
const ROUNDS_MAX: usize = 50;
/// How long the last changes may take while writers wait; past that the old server takes writes again.
const DRAIN_MAX: Duration = Duration::from_millis(600);
/// Times that this may happen.
const DRAINS_MAX: u32 = 5;
/// Before writers have to wait once more, and longer each time: whatever kept the servers busy may pass.
const DRAIN_PAUSE: Duration = Duration::from_millis(400);
/// After which every process reads the map often, once it is told to.
const ANNOUNCED: Duration = READ_EVERY.saturating_add(Duration::from_millis(200));
/// After which every process has read of a new owner, once all servers know it.
const LEARNED: Duration = READ_EVERY_MOVING.saturating_add(Duration::from_millis(150));

impl Mover {
    pub(super) async fn begin(&mut self, place: usize, shard: ShardId) -> Result<u64, MoveError> {
        let (run, target) = (self.run, self.target);
        let part = &mut self.parts[place];
        let owner = part.agreed_owner(shard).await?;
        let values = (shard.number(), owner.server, target, owner.epoch + 1, run);
        for server in [owner.server, target] {
            part.ends.conn(server).await?.exec_drop(BEGIN, values).await?;
        }
        for server in part.ends.servers() {
            announce(part.ends.conn(server).await?, shard, true).await?;
        }
        self.announced = Instant::now();
        Ok(0)
    }

    pub(super) async fn go_on(&mut self, place: usize, step: Step, record: &Record) -> Result<u64, MoveError> {
        let hands = self.hands(record);
        let (source, target) = (record.source, record.target);
        match step {
            Step::Watch | Step::Unwatch => self.set_watch(place, step, source, record.shard).await.map(|()| 0),
            Step::Lift => {
                let ends = &mut self.parts[place].ends;
                if !hands.is_switched(ends.conn(target).await?).await? {
                    hands.set_fence(ends.conn(source).await?, false).await?;
                }
                self.fenced = None;
                Ok(0)
            }
            Step::Tell => {
                let ends = &mut self.parts[place].ends;
                for server in ends.servers() {
                    // One that is away is told later; processes believe whoever knows more.
                    match ends.conn(server).await {
                        Ok(conn) => hands.tell(conn).await?,
                        Err(MoveError::Unreachable { .. }) if ![source, target].contains(&server) => {}
                        Err(error) => return Err(error),
                    }
                }
                self.told = Some(Instant::now());
                Ok(0)
            }
            Step::Open => {
                let told = *self.told.get_or_insert_with(Instant::now);
                sleep(LEARNED.saturating_sub(told.elapsed())).await;
                hands.open(self.parts[place].ends.conn(target).await?).await?;
                self.told = None;
                let pause = self.fenced.take().map_or(Duration::ZERO, |fenced| fenced.elapsed());
                self.moved.longest_pause = self.moved.longest_pause.max(pause);
                Ok(0)
            }
            Step::Wait => {
                sleep(self.pace.release_after.min(Duration::from_millis(500))).await;
                Ok(0)
            }
            Step::Untold => Err(self.untold(place, record).await),
            Step::Release => self.release(place, record).await,
            Step::Begin | Step::Done => Ok(0),
            Step::Clear | Step::Restart | Step::Copy | Step::Verify | Step::Fence | Step::HandOver => {
                let (mut from, mut to) = self.parts[place].ends.pair(source, target).await?;
                let done = self.between(place, step, record, &mut from, &mut to).await?;
                self.parts[place].ends.give_back([(source, from), (target, to)]);
                Ok(done)
            }
        }
    }

    /// The steps that need both servers.
    async fn between(
        &mut self,
        place: usize,
        step: Step,
        record: &Record,
        source: &mut Conn,
        target: &mut Conn,
    ) -> Result<u64, MoveError> {
        let hands = self.hands(record);
        let part = &self.parts[place];
        let way = Way { database: &part.ends.name, shard: record.shard, run: self.run, tables: &part.tables };
        match step {
            Step::Clear => {
                let removed = way.clear(target, record.target).await?;
                way.advance(target, Phase::Begun, Phase::Cleared, None, "", Vec::new()).await?;
                Ok(removed)
            }
            Step::Restart => {
                way.advance(target, record.phase, Phase::Begun, None, "", Vec::new()).await?;
                Ok(0)
            }
            Step::Copy => {
                let rows = way.copy(source, target, record, self.pace.slice_rows).await?;
                self.moved.rows += rows;
                Ok(rows)
            }
            Step::Verify => {
                let caught_up = catch_up(&way, source, target).await?;
                let compared = match way.round(source, target, Compare::Everything).await {
                    Err(differs @ MoveError::Differs { .. }) => {
                        way.advance(target, Phase::Copied, Phase::Begun, None, "", Vec::new()).await?;
                        return Err(differs);
                    }
                    compared => compared?,
                };
                way.advance(target, Phase::Copied, Phase::Verified, None, "", Vec::new()).await?;
                let changes = (caught_up + compared) as u64;
                self.moved.changes += changes;
                Ok(changes)
            }
            Step::Fence => {
                sleep(DRAIN_PAUSE * self.drains).await;
                let changes = catch_up(&way, source, target).await? as u64;
                sleep(ANNOUNCED.saturating_sub(self.announced.elapsed())).await;
                self.fenced = Some(Instant::now());
                hands.set_fence(source, true).await?;
                self.moved.changes += changes;
                Ok(changes)
            }
            _ => {
                let same = moved_tables(source, &part.database, &part.ends.name).await? == part.tables;
                let drained = way.round(source, target, Compare::Changes).await;
                let took = self.fenced.map_or(Duration::ZERO, |fenced| fenced.elapsed());
                if !same || drained.is_err() || took > DRAIN_MAX {
                    let database = part.ends.name.clone();
                    hands.set_fence(source, false).await?;
                    self.fenced = None;
                    self.drains += 1;
                    if let Err(MoveError::Differs { .. }) = drained {
                        way.advance(target, record.phase, Phase::Begun, None, "", Vec::new()).await?;
                    }
                    drained?;
                    return match same {
                        false => Err(MoveError::OtherTables { database }),
                        true if self.drains < DRAINS_MAX => Ok(0),
                        true => Err(MoveError::TooBusy { database, shard: record.shard, target: record.target }),
                    };
                }
                hands.switch(target).await?;
                self.drains = 0;
                self.moved.switched += 1;
                let changes = drained? as u64;
                self.moved.changes += changes;
                Ok(changes)
            }
        }
    }

    async fn set_watch(&mut self, place: usize, step: Step, source: u8, shard: ShardId) -> Result<(), MoveError> {
        let unswitched: BTreeSet<u8> = self.parts[place].on_their_way(source).await?;
        let asked: Vec<ShardId> = self.units.iter().filter(|unit| unit.part == place).map(|unit| unit.shard).collect();
        let part = &mut self.parts[place];
        let name = part.ends.name.clone();
        if step == Step::Unwatch {
            return watch::unwatch(part.ends.conn(source).await?, &name, &unswitched).await;
        }
        // All at once: a trigger that is made has everybody wait for a moment who uses its table.
        let mut shards = BTreeSet::from([shard.number()]);
        for shard in asked {
            if part.ends.map_row(source, shard).await?.server == source {
                shards.insert(shard.number());
            }
        }
        let (number, tables) = (source.to_string(), part.tables.clone());
        watch::watch(part.ends.conn(source).await?, [&number, &name], &tables, &shards).await
    }

    async fn release(&mut self, place: usize, record: &Record) -> Result<u64, MoveError> {
        let run = self.run;
        let Part { ends, tables, .. } = &mut self.parts[place];
        let name = ends.name.clone();
        let way = Way { database: &name, shard: record.shard, run, tables };
        let source = ends.conn(record.source).await?;
        let removed = way.clear(source, record.source).await?;
        way.clear_changes(source).await?;
        for server in ends.servers() {
            announce(ends.conn(server).await?, record.shard, false).await?;
        }
        // The new owner's record last: while it is there, all of this is done again.
        for server in [record.source, record.target] {
            let mut tx = Tx::begin(ends.conn(server).await?).await?;
            tx.write(FORGET, vec![record.shard.number().into(), record.epoch.into()]).await?;
            tx.commit().await?;
        }
        Ok(removed)
    }

    fn hands(&self, record: &Record) -> Hands {
        let Record { shard, source, target, epoch, .. } = *record;
        Hands { shard, source, target, epoch, run: self.run }
    }
}

/// Applies what has changed until little is left.
async fn catch_up(way: &Way<'_>, source: &mut Conn, target: &mut Conn) -> Result<usize, MoveError> {
    let mut changes = 0;
    for _ in 0..ROUNDS_MAX {
        let round = way.round(source, target, Compare::Nothing).await?;
        changes += round;
        if round <= FEW_CHANGES {
            break;
        }
    }
    Ok(changes)
}
