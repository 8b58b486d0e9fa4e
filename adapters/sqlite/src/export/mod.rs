//! Reads a site out of its file, slice by slice, for whoever moves it elsewhere. Nothing may write meanwhile.

mod tables;

use madang_engine_sqlite::sql_error;
use madang_kernel::StoreError;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

pub use tables::{Fate, TABLES, TableFate};

use crate::Sqlite;

const COUNTS: &str = include_str!("../../sql/export/counts.sql");
const MARKS: &str = include_str!("../../sql/export/marks.sql");
const ID_END: &str = include_str!("../../sql/export/id_end.sql");
const SCHEMA: &str = include_str!("../../sql/export/tables.sql");

/// A slice ends after so many bytes of values, however few its rows are.
const SLICE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A row in the order of the columns that its statement lists; the key comes first.
pub type ExportRow = Vec<Value>;

/// A table to be moved: how its rows are read in the order of their key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportTable {
    /// Its name.
    pub name: &'static str,
    sql: &'static str,
    key: &'static [KeyKind],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Integer,
    Text,
}

/// What a site holds at one moment; the same again when nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportState {
    /// Rows of each table that is moved.
    pub counts: Vec<(String, u64)>,
    /// The last number of everything that is numbered for ever: events, revocations, and the like.
    pub marks: Vec<(String, i64)>,
    /// No id of the site carries this time (Unix milliseconds) or a later one.
    pub ids_end_ms: i64,
}

impl ExportTable {
    /// The key of a row.
    pub fn key_of(self, row: &[Value]) -> Vec<Value> {
        row.iter().take(self.key.len()).cloned().collect()
    }

    /// A key before every row's.
    fn before_all(self) -> Vec<Value> {
        let least = |kind: &KeyKind| match kind {
            KeyKind::Integer => Value::Integer(i64::MIN),
            KeyKind::Text => Value::Text(String::new()),
        };
        self.key.iter().map(least).collect()
    }
}

/// At most `rows_max` rows whose key is above `after`, in the order of the key; none at the end.
pub async fn export(
    db: &Sqlite,
    table: ExportTable,
    after: Option<Vec<Value>>,
    rows_max: usize,
) -> Result<Vec<ExportRow>, StoreError> {
    let mut values = after.unwrap_or_else(|| table.before_all());
    values.push(Value::Integer(i64::try_from(rows_max).unwrap_or(i64::MAX)));
    let read = move |tx: &rusqlite::Connection| {
        let mut statement = tx.prepare_cached(table.sql)?;
        let columns = statement.column_count();
        let mut found = statement.query(params_from_iter(values))?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while bytes < SLICE_BYTES_MAX
            && let Some(row) = found.next()?
        {
            let row: ExportRow = (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
            bytes += row.iter().map(size).sum::<usize>();
            rows.push(row);
        }
        Ok(rows)
    };
    db.read(move |tx| read(tx).map_err(sql_error)).await
}

/// What the site holds.
pub async fn export_state(db: &Sqlite) -> Result<ExportState, StoreError> {
    let read = |tx: &rusqlite::Connection| {
        let named = |sql: &str| {
            let mut statement = tx.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, i64)>>>()
        };
        let counts = named(COUNTS)?.into_iter().map(|(name, rows)| (name, rows.unsigned_abs())).collect();
        Ok(ExportState { counts, marks: named(MARKS)?, ids_end_ms: tx.query_row(ID_END, [], |row| row.get(0))? })
    };
    db.read(move |tx| read(tx).map_err(sql_error)).await
}

/// The tables of the schema, for whoever has to know that nobody forgot one.
pub async fn schema_tables(db: &Sqlite) -> Result<Vec<String>, StoreError> {
    let read = |tx: &rusqlite::Connection| {
        tx.prepare(SCHEMA)?.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
    };
    db.read(move |tx| read(tx).map_err(sql_error)).await
}

fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 8,
    }
}
