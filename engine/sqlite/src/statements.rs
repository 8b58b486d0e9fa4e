//! Statements by their text: each is prepared once for its connection, and its failures are those of a store.

use madang_kernel::StoreError;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::sql_error;

/// Runs statements in one call each, on a transaction or a snapshot.
pub trait Statements {
    /// Where they run.
    fn connection(&self) -> &Connection;

    /// Changes rows; returns how many.
    fn run(&self, sql: &str, values: impl Params) -> Result<usize, StoreError> {
        self.connection().prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(sql_error)
    }

    /// Whether there is a row.
    fn exists(&self, sql: &str, values: impl Params) -> Result<bool, StoreError> {
        self.connection().prepare_cached(sql).and_then(|mut statement| statement.exists(values)).map_err(sql_error)
    }

    /// The first row, if there is one.
    fn find<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let found = self.connection().prepare_cached(sql).and_then(|mut statement| statement.query_row(values, read));
        found.optional().map_err(sql_error)
    }

    /// The row of a statement that always has one.
    fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let found = self.connection().prepare_cached(sql).and_then(|mut statement| statement.query_row(values, read));
        found.map_err(sql_error)
    }

    /// Every row.
    fn list<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C, StoreError> {
        let listed = |mut statement: rusqlite::CachedStatement<'_>| statement.query_map(values, read)?.collect();
        self.connection().prepare_cached(sql).and_then(listed).map_err(sql_error)
    }

    /// Looks at one row after the other, for as long as `look` says true: for more of them than should be in memory.
    fn each(
        &self,
        sql: &str,
        values: impl Params,
        mut look: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<(), StoreError> {
        let looked = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.query(values)?;
            while let Some(row) = rows.next()? {
                if !look(row)? {
                    break;
                }
            }
            Ok(())
        };
        looked().map_err(sql_error)
    }
}

impl Statements for Connection {
    fn connection(&self) -> &Connection {
        self
    }
}
