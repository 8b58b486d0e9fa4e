//! Rows on their way: copied in slices in the order of their keys, then again wherever they changed, then compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use madang_kernel::ShardId;
use mysql_async::Conn;

use super::ends::{Record, lock};
use super::table::Table;
use super::{MoveError, Phase};
use crate::errors::SqlError;
use crate::statement::{Many, Values, filled, pieces};
use crate::transaction::{Tx, bytes, positional};

const ADVANCE: &str = include_str!("../../sql/move/advance.sql");
const CHANGES: &str = include_str!("../../sql/move/changes.sql");
const CLEAR_CHANGES: &str = include_str!("../../sql/move/clear_changes.sql");
const NOT_HELD: &str = include_str!("../../sql/shard/not_held.sql");
static DROP_CHANGES: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/move/drop_changes.sql")));

/// Changes applied in one transaction.
const CHANGES_PAGE: usize = 500;
/// Rows looked up by one statement.
const KEYS_MAX: usize = 64;
/// Rows removed in one transaction.
const CLEAR_ROWS: u64 = 1_000;

/// A shard of one database between two servers, and the command that moves it.
pub(super) struct Way<'t> {
    pub(super) database: &'t str,
    pub(super) shard: ShardId,
    pub(super) run: u64,
    pub(super) tables: &'t [Table],
}

/// How thoroughly a round compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Nothing,
    /// The rows that changed, one by one.
    Changes,
    /// Those, and rows and a checksum of every table.
    Everything,
}

impl Way<'_> {
    /// Copies the next slice. Returns its rows.
    pub(super) async fn copy(
        &self,
        source: &mut Conn,
        target: &mut Conn,
        record: &Record,
        slice: usize,
    ) -> Result<u64, MoveError> {
        if record.phase < Phase::Copying {
            // Whatever was noted so far is in the rows that are read from here on.
            self.clear_changes(source).await?;
            self.advance(target, Phase::Cleared, Phase::Copying, Some(0), "", Vec::new()).await?;
            return Ok(0);
        }
        let place = self.tables.iter().position(|table| table.name == record.table);
        let place = place.ok_or_else(|| MoveError::OtherTables { database: self.database.to_owned() })?;
        let table = &self.tables[place];
        let mut values: Values = vec![self.shard.number().into()];
        if !record.last_key.is_empty() {
            values.extend(table.after_values(&table.read_key(&record.last_key)?));
        }
        values.push(slice.into());
        let mut reading = Tx::begin(source).await?;
        let rows = reading.whole_rows(&table.slice(record.last_key.is_empty()), values).await?;
        reading.commit().await?;
        let (count, last) = (rows.len(), rows.last().map(|row| table.key_of(row)).transpose()?);
        let statements = replacing(table, rows);
        match last {
            Some((_, key)) if count == slice => {
                self.advance(target, Phase::Copying, Phase::Copying, Some(place), &key, statements).await?;
            }
            _ if place + 1 < self.tables.len() => {
                self.advance(target, Phase::Copying, Phase::Copying, Some(place + 1), "", statements).await?;
            }
            _ => self.advance(target, Phase::Copying, Phase::Copied, None, "", statements).await?,
        }
        Ok(count as u64)
    }

    /// Writes rows and how far the move is, together.
    pub(super) async fn advance(
        &self,
        target: &mut Conn,
        from: Phase,
        to: Phase,
        table: Option<usize>,
        key: &str,
        statements: Vec<(String, Values)>,
    ) -> Result<(), MoveError> {
        let mut tx = Tx::begin(target).await?;
        if lock(&mut tx, self.shard, self.run).await? != from {
            return Err(MoveError::TakenOver { shard: self.shard });
        }
        for (sql, values) in statements {
            tx.execute(&sql, positional(values)).await?;
        }
        let table = table.map_or("", |place| self.tables[place].name.as_str());
        let values = vec![to.number().into(), bytes(table), bytes(key), self.shard.number().into()];
        tx.write(ADVANCE, values).await?;
        Ok(tx.commit().await?)
    }

    /// Applies what has changed, as of one moment; compares as of the same moment. Returns how many changes there were.
    pub(super) async fn round(
        &self,
        source: &mut Conn,
        target: &mut Conn,
        compare: Compare,
    ) -> Result<usize, MoveError> {
        let mut moment = Tx::snapshot(source).await?;
        let mut applied: Vec<u64> = Vec::new();
        loop {
            let after = applied.last().copied().unwrap_or(0);
            let page =
                moment.read(CHANGES, vec![self.shard.number().into(), after.into(), CHANGES_PAGE.into()]).await?;
            let is_last = page.len() < CHANGES_PAGE;
            let mut changed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for mut cells in page {
                applied.push(cells.next()?);
                changed.entry(cells.next()?).or_default().insert(cells.next()?);
            }
            self.apply(&mut moment, target, &changed, compare).await?;
            if is_last {
                break;
            }
        }
        if compare == Compare::Everything {
            self.compare(&mut moment, target).await?;
        }
        moment.commit().await?;
        let count = applied.len();
        let keys = applied.into_iter().map(|change| vec![self.shard.number().into(), change.into()]).collect();
        let mut tx = Tx::begin(source).await?;
        tx.set_many(&DROP_CHANGES, keys).await?;
        tx.commit().await?;
        Ok(count)
    }

    async fn apply(
        &self,
        moment: &mut Tx<'_>,
        target: &mut Conn,
        changed: &BTreeMap<String, BTreeSet<String>>,
        compare: Compare,
    ) -> Result<(), MoveError> {
        if changed.is_empty() {
            return Ok(());
        }
        let mut tx = Tx::begin(target).await?;
        if lock(&mut tx, self.shard, self.run).await? >= Phase::Switched {
            return Err(MoveError::TakenOver { shard: self.shard });
        }
        for (name, keys) in changed {
            let table = self.tables.iter().find(|table| table.name == *name);
            let table = table.ok_or_else(|| MoveError::OtherTables { database: self.database.to_owned() })?;
            let keys = keys.iter().map(|key| table.read_key(key)).collect::<Result<Vec<Values>, _>>()?;
            for keys in keys.chunks(KEYS_MAX) {
                let keys = filled(keys.to_vec());
                let values = || [vec![self.shard.number().into()], keys.concat()].concat();
                let rows = moment.whole_rows(&table.find(keys.len()), values()).await?;
                tx.execute(&table.delete(keys.len()), positional(values())).await?;
                for (sql, values) in replacing(table, rows.clone()) {
                    tx.execute(&sql, positional(values)).await?;
                }
                if compare != Compare::Nothing {
                    let there = tx.whole_rows(&table.find(keys.len()), values()).await?;
                    if by_key(table, rows)? != by_key(table, there)? {
                        return Err(self.differs(table, "a row that changed".to_owned()));
                    }
                }
            }
        }
        Ok(tx.commit().await?)
    }

    /// Rows and a checksum of every table.
    async fn compare(&self, moment: &mut Tx<'_>, target: &mut Conn) -> Result<(), MoveError> {
        let mut tx = Tx::snapshot(target).await?;
        for table in self.tables {
            let values = || vec![self.shard.number().into()];
            let here = moment.whole_rows(&table.checksum(), values()).await?;
            let there = tx.whole_rows(&table.checksum(), values()).await?;
            if here != there {
                return Err(self.differs(table, format!("{here:?} and {there:?}")));
            }
        }
        Ok(tx.commit().await?)
    }

    fn differs(&self, table: &Table, what: String) -> MoveError {
        let (database, table) = (self.database.to_owned(), table.name.clone());
        MoveError::Differs { database, shard: self.shard, table, what }
    }

    /// Removes every row of the shard from a server that does not hold it. Returns how many.
    pub(super) async fn clear(&self, conn: &mut Conn, server: u8) -> Result<u64, MoveError> {
        let mut removed = 0;
        for table in self.tables {
            loop {
                let mut tx = Tx::begin(conn).await?;
                let not_held = tx.first(NOT_HELD, vec![self.shard.number().into(), server.into()]).await?;
                if not_held.is_none() {
                    return Err(MoveError::Disagree { database: self.database.to_owned(), shard: self.shard });
                }
                let values = vec![self.shard.number().into(), CLEAR_ROWS.into()];
                let slice = tx.execute(&table.clear(), positional(values)).await?;
                tx.commit().await?;
                removed += slice;
                if slice < CLEAR_ROWS {
                    break;
                }
            }
        }
        Ok(removed)
    }

    /// Forgets what was noted of the shard.
    pub(super) async fn clear_changes(&self, source: &mut Conn) -> Result<(), MoveError> {
        loop {
            let mut tx = Tx::begin(source).await?;
            let slice = tx.write(CLEAR_CHANGES, vec![self.shard.number().into(), CLEAR_ROWS.into()]).await?;
            tx.commit().await?;
            if slice < CLEAR_ROWS {
                return Ok(());
            }
        }
    }
}

/// Statements that write rows.
fn replacing(table: &Table, rows: Vec<Values>) -> Vec<(String, Values)> {
    pieces(rows).into_iter().map(|piece| (table.replace(piece.len()), piece.concat())).collect()
}

fn by_key(table: &Table, rows: Vec<Values>) -> Result<BTreeMap<String, Values>, SqlError> {
    rows.into_iter().map(|row| Ok((table.key_of(&row)?.1, row))).collect()
}
