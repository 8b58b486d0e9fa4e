//! Moving shards to another server while everything runs. What comes next is decided by [`step`], a pure function of what the
//! servers say; here it is asked, carried out, and asked again. A command that ends anywhere is followed by one that goes on.
//!
//! Of each database in turn: the keys of rows that change are noted by triggers ([`watch`]), the rows are copied and compared
//! ([`rows`]), the shard changes hands ([`switch`]), and later the old copy is removed.

mod abandoned;
mod carry_out;
mod ends;
mod error;
mod observe;
mod rows;
mod step;
mod switch;
mod table;
mod unfinished;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use madang_kernel::ShardId;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use crate::errors::SqlError;
use crate::growth::shard_copies;
use crate::open::name_on_servers;
use crate::server::connect_without_database;
use crate::{Database, MysqlOptions};
pub(crate) use abandoned::look_after;
use ends::{Ends, Record};
pub use error::MoveError;
pub use step::{Phase, Step};
pub(crate) use table::{ENGINE_MOVES, ENGINE_STAYS};
use table::{Table, moved_tables};
pub use unfinished::{UnfinishedMove, unfinished_moves};

const TAKE_LOCK: &str = include_str!("../../sql/backbone/take_lock.sql");
const TAKE_OVER: &str = include_str!("../../sql/move/take_over.sql");

/// How long another command may take to end, or a process that lets writers go on after one that was killed.
const LOCK_WAIT_S: u64 = 5;
/// Tries of a step that met a conflict or lost a connection.
const TRIES_MAX: u32 = 10;
/// Between two of them.
const TRY_PAUSE: Duration = Duration::from_millis(200);

/// How fast a move goes.
#[derive(Debug, Clone, Copy)]
pub struct MovePace {
    /// Rows copied in one transaction.
    pub slice_rows: usize,
    /// How long the old copy is kept: longer than a process goes on reading by a map that it could not read again.
    pub release_after: Duration,
}

impl Default for MovePace {
    fn default() -> Self {
        Self { slice_rows: 500, release_after: crate::map_read::MAP_AGE_MAX.saturating_mul(2) }
    }
}

/// A step that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveProgress {
    /// What the program calls the database.
    pub database: &'static str,
    /// The shard.
    pub shard: ShardId,
    /// The step.
    pub step: Step,
    /// Rows that it copied or removed, or changes that it applied.
    pub rows: u64,
}

/// What a command did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Rows copied.
    pub rows: u64,
    /// Changes applied afterwards.
    pub changes: u64,
    /// Times that a shard of a database changed hands.
    pub switched: u64,
    /// The longest time for which writes to one of them had to wait.
    pub longest_pause: Duration,
}

/// One database of a move.
struct Part {
    database: Database,
    ends: Ends,
    tables: Vec<Table>,
}

/// A shard of one database.
struct Unit {
    part: usize,
    shard: ShardId,
    is_served: bool,
    is_done: bool,
}

/// Shards on their way to one server, of every database of a program.
pub struct Mover {
    parts: Vec<Part>,
    units: Vec<Unit>,
    target: u8,
    run: u64,
    pace: MovePace,
    /// Holds the lock that keeps other commands away.
    _lock: Conn,
    announced: Instant,
    /// When writers began to wait.
    fenced: Option<Instant>,
    drains: u32,
    told: Option<Instant>,
    moved: Moved,
}

impl Mover {
    /// Begins a move, or goes on with one that was interrupted. Every server must respond. Changes nothing but who is at work.
    pub async fn open(
        options: &MysqlOptions,
        databases: &[Database],
        shards: &BTreeSet<ShardId>,
        target: u8,
        pace: MovePace,
    ) -> Result<Self, MoveError> {
        Self::open_within(LOCK_WAIT_S, options, databases, shards, target, pace).await
    }

    /// The same, waiting so many seconds for whoever is at work.
    async fn open_within(
        lock_wait_s: u64,
        options: &MysqlOptions,
        databases: &[Database],
        shards: &BTreeSet<ShardId>,
        target: u8,
        pace: MovePace,
    ) -> Result<Self, MoveError> {
        let copies = shard_copies(options, databases).await;
        let mut addresses = BTreeMap::new();
        for told in &copies {
            let known = told.copies.as_ref().map_err(|reason| MoveError::Unreachable {
                server: told.server,
                address: told.address.clone(),
                reason: reason.clone(),
            })?;
            if let Some((_, database)) = known.iter().zip(databases).find(|(copy, _)| copy.is_none()) {
                return Err(MoveError::NoMap { database: database.under(&options.database_prefix) });
            }
            addresses.insert(told.server, told.address.clone());
        }
        if !addresses.contains_key(&target) {
            return Err(MoveError::NoSuchServer { server: target });
        }
        let lock = take_lock(options, &addresses, lock_wait_s).await?;
        let mut parts = Vec::new();
        for database in databases {
            let name = name_on_servers(options, database)?;
            let mut ends = Ends::new(options, name.clone(), addresses.clone());
            let tables = moved_tables(ends.conn(target).await?, database, &name).await?;
            for server in ends.servers() {
                if moved_tables(ends.conn(server).await?, database, &name).await? != tables {
                    return Err(MoveError::OtherTables { database: name });
                }
            }
            parts.push(Part { database: database.clone(), ends, tables });
        }
        let (run, announced) = (rand::random(), Instant::now());
        let mut mover = Self {
            parts,
            units: Vec::new(),
            target,
            run,
            pace,
            _lock: lock,
            announced,
            fenced: None,
            drains: 0,
            told: None,
            moved: Moved::default(),
        };
        mover.take_over(shards).await?;
        Ok(mover)
    }

    /// Refuses while other moves are half done; what is left of those that are switched is finished along with this one.
    async fn take_over(&mut self, shards: &BTreeSet<ShardId>) -> Result<(), MoveError> {
        let mut wanted: Vec<BTreeSet<ShardId>> = vec![shards.clone(); self.parts.len()];
        let mut begun = Vec::new();
        for (place, part) in self.parts.iter_mut().enumerate() {
            for record in part.unfinished().await? {
                let is_asked = record.target == self.target && shards.contains(&record.shard);
                if record.phase == Phase::Switched && record.target == self.target {
                    wanted[place].insert(record.shard);
                } else if !is_asked {
                    begun.push((record.target, record.shard));
                }
            }
        }
        if let Some((target, _)) = begun.first().copied() {
            let mut shards: Vec<ShardId> =
                begun.iter().filter(|(other, _)| *other == target).map(|(_, shard)| *shard).collect();
            shards.sort_unstable();
            shards.dedup();
            return Err(MoveError::Unfinished { shards, target });
        }
        for part in &mut self.parts {
            for server in part.ends.servers() {
                for record in part.ends.records(server).await? {
                    let conn = part.ends.conn(server).await?;
                    conn.exec_drop(TAKE_OVER, (self.run, record.shard.number())).await?;
                }
            }
        }
        let units = wanted.into_iter().enumerate().flat_map(|(part, shards)| {
            shards.into_iter().map(move |shard| Unit { part, shard, is_served: false, is_done: false })
        });
        self.units = units.collect();
        Ok(())
    }

    /// What is to be copied: each database and shard that is not there yet, where it is, and its rows. Counts them.
    pub async fn plan(&mut self) -> Result<Vec<(&'static str, ShardId, u8, u64)>, MoveError> {
        let mut plan = Vec::new();
        for unit in &self.units {
            let part = &mut self.parts[unit.part];
            let source = part.ends.map_row(self.target, unit.shard).await?.server;
            if source == self.target {
                continue;
            }
            let mut rows = 0;
            for table in &part.tables {
                let counted: Option<u64> =
                    part.ends.conn(source).await?.exec_first(table.count(), (unit.shard.number(),)).await?;
                rows += counted.unwrap_or(0);
            }
            plan.push((part.database.name(), unit.shard, source, rows));
        }
        Ok(plan)
    }

    /// Carries out every step that is left. Tells of each.
    pub async fn run(&mut self, mut progress: impl FnMut(MoveProgress)) -> Result<Moved, MoveError> {
        let mut tries = 0;
        loop {
            match self.step().await {
                Ok(Some(done)) => {
                    tries = 0;
                    progress(done);
                }
                Ok(None) => return Ok(self.moved),
                Err(error) if error.is_passing() && tries < TRIES_MAX => {
                    tries += 1;
                    tracing::debug!("a step of a move is tried again: {error}");
                    self.parts.iter_mut().for_each(|part| part.ends.forget_connections());
                    sleep(TRY_PAUSE).await;
                }
                Err(error) => {
                    self.let_writers_go_on().await;
                    return Err(error);
                }
            }
        }
    }

    /// Carries out the next step; `None` when nothing is left to do.
    pub async fn step(&mut self) -> Result<Option<MoveProgress>, MoveError> {
        for place in 0..self.units.len() {
            if self.units[place].is_served {
                continue;
            }
            let (step, record) = self.next(place).await?;
            if !step.is_after_opening() {
                return self.carry_out(place, step, record).await.map(Some);
            }
            self.units[place].is_served = true;
        }
        for place in 0..self.units.len() {
            if self.units[place].is_done {
                continue;
            }
            let (step, record) = self.next(place).await?;
            if step != Step::Done {
                return self.carry_out(place, step, record).await.map(Some);
            }
            self.units[place].is_done = true;
        }
        Ok(None)
    }

    async fn carry_out(&mut self, place: usize, step: Step, record: Option<Record>) -> Result<MoveProgress, MoveError> {
        let (part, shard) = (self.units[place].part, self.units[place].shard);
        let rows = match record {
            None => self.begin(part, shard).await?,
            Some(record) => self.go_on(part, step, &record).await?,
        };
        Ok(MoveProgress { database: self.parts[part].database.name(), shard, step, rows })
    }

    /// Where a step failed for good, writers do not wait for the next command. Best effort: processes look after them too.
    async fn let_writers_go_on(&mut self) {
        self.parts.iter_mut().for_each(|part| part.ends.forget_connections());
        if let Err(error) = self.settle().await {
            tracing::debug!("writers may have to wait for the next command: {error}");
        }
    }
}

/// One command at a time. The lock ends with its connection.
async fn take_lock(options: &MysqlOptions, addresses: &BTreeMap<u8, String>, wait_s: u64) -> Result<Conn, MoveError> {
    let (server, address) = addresses.first_key_value().ok_or(MoveError::NoSuchServer { server: 0 })?;
    let mut conn = connect_without_database(options, &options.url_of(*server, address)).await?;
    let lock = lock_of_commands(options);
    let taken: Option<Option<i64>> = conn.exec_first(TAKE_LOCK, (lock, wait_s)).await.map_err(SqlError::from)?;
    if taken.flatten() == Some(1) { Ok(conn) } else { Err(MoveError::Busy) }
}

/// What the lock of commands is called, on the first server.
fn lock_of_commands(options: &MysqlOptions) -> String {
    format!("madang.{}.shards", options.database_prefix)
}
