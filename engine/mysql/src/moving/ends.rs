//! The servers of one database as a move sees them: a connection to each, and the records of moves.

use std::collections::BTreeMap;

use madang_kernel::ShardId;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};

use super::{MoveError, Phase};
use crate::MysqlOptions;
use crate::errors::SqlError;
use crate::server::connect_to;
use crate::transaction::{Cells, Tx};

const ALL: &str = include_str!("../../sql/move/all.sql");
const LOCK: &str = include_str!("../../sql/move/lock.sql");
const ROW: &str = include_str!("../../sql/shard/row.sql");

/// A database on all its servers.
pub(super) struct Ends {
    pub(super) options: MysqlOptions,
    /// What it is called on the servers.
    pub(super) name: String,
    /// Where each server is.
    pub(super) addresses: BTreeMap<u8, String>,
    open: BTreeMap<u8, Conn>,
}

/// A move as a server has it on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) shard: ShardId,
    pub(super) source: u8,
    pub(super) target: u8,
    /// The epoch of the new owner.
    pub(super) epoch: u64,
    pub(super) phase: Phase,
    /// The table that is being copied; empty before the first.
    pub(super) table: String,
    /// The key of its last row that is copied.
    pub(super) last_key: String,
    /// By the clock of the new owner.
    pub(super) switched_at: Option<i64>,
}

/// A row of the map, as a server has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MapRow {
    pub(super) server: u8,
    pub(super) epoch: u64,
    pub(super) writable: bool,
    pub(super) moving: bool,
}

impl Ends {
    pub(super) fn new(options: &MysqlOptions, name: String, addresses: BTreeMap<u8, String>) -> Self {
        Self { options: options.clone(), name, addresses, open: BTreeMap::new() }
    }

    /// The numbers of the servers.
    pub(super) fn servers(&self) -> Vec<u8> {
        self.addresses.keys().copied().collect()
    }

    /// A connection to a server, kept.
    pub(super) async fn conn(&mut self, server: u8) -> Result<&mut Conn, MoveError> {
        if !self.open.contains_key(&server) {
            let conn = self.connect(server).await?;
            self.open.insert(server, conn);
        }
        self.open.get_mut(&server).ok_or(MoveError::NoSuchServer { server })
    }

    /// Two connections at once.
    pub(super) async fn pair(&mut self, one: u8, other: u8) -> Result<(Conn, Conn), MoveError> {
        let first = self.take(one).await?;
        let second = self.take(other).await?;
        Ok((first, second))
    }

    /// Keeps two connections that were lent and are still good.
    pub(super) fn give_back(&mut self, [(one, first), (other, second)]: [(u8, Conn); 2]) {
        self.open.insert(one, first);
        self.open.insert(other, second);
    }

    async fn take(&mut self, server: u8) -> Result<Conn, MoveError> {
        match self.open.remove(&server) {
            Some(conn) => Ok(conn),
            None => self.connect(server).await,
        }
    }

    async fn connect(&self, server: u8) -> Result<Conn, MoveError> {
        let address = self.addresses.get(&server).ok_or(MoveError::NoSuchServer { server })?;
        let conn = connect_to(&self.options, &self.options.url_of(server, address), &self.name).await;
        conn.map_err(|error| match error {
            SqlError::Unavailable(reason) => MoveError::Unreachable { server, address: address.clone(), reason },
            other => other.into(),
        })
    }

    /// Makes new connections from here on: one of them may be lost.
    pub(super) fn forget_connections(&mut self) {
        self.open.clear();
    }

    /// The moves that a server has on record.
    pub(super) async fn records(&mut self, server: u8) -> Result<Vec<Record>, MoveError> {
        let rows: Vec<Row> = self.conn(server).await?.exec(ALL, ()).await?;
        Ok(rows.into_iter().map(record).collect::<Result<_, SqlError>>()?)
    }

    /// What a server knows of a shard.
    pub(super) async fn map_row(&mut self, server: u8, shard: ShardId) -> Result<MapRow, MoveError> {
        let row: Option<(u8, u64, u8, u8)> = self.conn(server).await?.exec_first(ROW, (shard.number(),)).await?;
        let missing = || SqlError::defect(format!("server {server} knows nothing of shard {shard}"));
        let (server, epoch, writable, moving) = row.ok_or_else(missing)?;
        Ok(MapRow { server, epoch, writable: writable == 1, moving: moving == 1 })
    }
}

fn record(row: Row) -> Result<Record, SqlError> {
    let mut cells = Cells::new(row);
    let number: u8 = cells.next()?;
    let shard = ShardId::new(number).ok_or_else(|| SqlError::defect(format!("there is no shard {number}")))?;
    let (source, target, epoch) = (cells.next()?, cells.next()?, cells.next()?);
    let _run: u64 = cells.next()?;
    let number: u8 = cells.next()?;
    let phase = Phase::of_number(number).ok_or_else(|| SqlError::defect(format!("no move has the phase {number}")))?;
    let (table, last_key, switched_at) = (cells.next()?, cells.next()?, cells.next()?);
    Ok(Record { shard, source, target, epoch, phase, table, last_key, switched_at })
}

/// How far a move is, where it is still this run's. Nobody takes it over until the transaction ends.
pub(super) async fn lock(tx: &mut Tx<'_>, shard: ShardId, run: u64) -> Result<Phase, MoveError> {
    let found = tx.first(LOCK, vec![shard.number().into(), run.into()]).await?;
    let mut cells = found.ok_or(MoveError::TakenOver { shard })?;
    let number: u8 = cells.next()?;
    Phase::of_number(number).ok_or_else(|| SqlError::defect(format!("no move has the phase {number}")).into())
}
