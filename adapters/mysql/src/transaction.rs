//! A transaction under way: its statements, and the messages that commit with it.

use madang_messaging::Message;
use mysql_async::prelude::{FromValue, Queryable};
use mysql_async::{Params, Row, Transaction, Value};

use crate::errors::SqlError;
use crate::statement::{Many, STATEMENT_ROWS_MAX, Values, filled, pieces};

/// A transaction, from its start to COMMIT.
pub(crate) struct Tx<'c> {
    inner: Transaction<'c>,
    reports: Vec<Message>,
    wrote: bool,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(inner: Transaction<'c>) -> Self {
        Self { inner, reports: Vec::new(), wrote: false }
    }

    /// Rows of a read.
    pub(crate) async fn read(&mut self, sql: &'static str, values: Values) -> Result<Vec<Cells>, SqlError> {
        let rows: Vec<Row> = self.inner.exec(sql, positional(values)).await?;
        Ok(rows.into_iter().map(Cells::new).collect())
    }

    /// The first row of a read.
    pub(crate) async fn first(&mut self, sql: &'static str, values: Values) -> Result<Option<Cells>, SqlError> {
        Ok(self.read(sql, values).await?.into_iter().next())
    }

    /// Rows of a read for a list of keys; answers in the order of the statement, list piece by list piece.
    pub(crate) async fn read_many(&mut self, many: &Many, keys: Vec<Values>) -> Result<Vec<Cells>, SqlError> {
        let mut found = Vec::new();
        for keys in chunks(keys) {
            let keys = filled(keys);
            let sql = many.sql(keys.len());
            let rows: Vec<Row> = self.inner.exec(sql, positional(keys.concat())).await?;
            found.extend(rows.into_iter().map(Cells::new));
        }
        Ok(found)
    }

    /// As [`Self::read_many`], of a statement whose head and tail take values too. All keys must fit into one statement.
    pub(crate) async fn read_many_between(
        &mut self,
        many: &Many,
        head: Values,
        keys: Vec<Values>,
        tail: Values,
    ) -> Result<Vec<Cells>, SqlError> {
        let keys = filled(keys);
        let values = [head, keys.concat(), tail].concat();
        let rows: Vec<Row> = self.inner.exec(many.sql(keys.len()), positional(values)).await?;
        Ok(rows.into_iter().map(Cells::new).collect())
    }

    /// Runs a write; returns the rows it reached.
    pub(crate) async fn write(&mut self, sql: &'static str, values: Values) -> Result<u64, SqlError> {
        self.wrote = true;
        self.inner.exec_drop(sql, positional(values)).await?;
        Ok(self.inner.affected_rows())
    }

    /// Runs a statement that is not this adapter's own.
    pub(crate) async fn execute(&mut self, sql: &str, params: Params) -> Result<u64, SqlError> {
        self.wrote = true;
        self.inner.exec_drop(sql, params).await?;
        Ok(self.inner.affected_rows())
    }

    /// Inserts rows, each of them once.
    pub(crate) async fn insert_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<(), SqlError> {
        for piece in pieces(rows) {
            self.wrote = true;
            let sql = many.sql(piece.len());
            self.inner.exec_drop(sql, positional(piece.concat())).await?;
        }
        Ok(())
    }

    /// Runs a write to which it makes no difference that a row comes twice: an absolute value, a deletion.
    pub(crate) async fn set_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<(), SqlError> {
        self.reach_many(many, rows).await.map(|_| ())
    }

    /// As [`Self::set_many`]; returns the rows it reached.
    pub(crate) async fn reach_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<u64, SqlError> {
        let mut reached = 0;
        for rows in chunks(rows) {
            self.wrote = true;
            let rows = filled(rows);
            let sql = many.sql(rows.len());
            self.inner.exec_drop(sql, positional(rows.concat())).await?;
            reached += self.inner.affected_rows();
        }
        Ok(reached)
    }

    /// As [`Self::set_many`], for a statement that only locks.
    pub(crate) async fn touch_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<(), SqlError> {
        let wrote = self.wrote;
        self.reach_many(many, rows).await?;
        self.wrote = wrote;
        Ok(())
    }

    /// Lets everything that was written so far be rolled back in the end, as if there had been nothing to write.
    pub(crate) fn undo(&mut self) {
        self.reports.clear();
        self.wrote = false;
    }

    /// Commits a message with the transaction.
    pub(crate) fn report(&mut self, message: Message) {
        self.reports.push(message);
    }

    /// The messages reported so far.
    pub(crate) fn take_reports(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.reports)
    }

    /// Whether anything was written.
    pub(crate) fn wrote(&self) -> bool {
        self.wrote || !self.reports.is_empty()
    }

    pub(crate) async fn commit(self) -> Result<(), SqlError> {
        Ok(self.inner.commit().await?)
    }

    /// Ends it without a trace; a connection that fails here is found out by its next statement.
    pub(crate) async fn roll_back(self) {
        let _ = self.inner.rollback().await;
    }
}

fn chunks(rows: Vec<Values>) -> Vec<Vec<Values>> {
    if rows.len() <= STATEMENT_ROWS_MAX {
        return if rows.is_empty() { Vec::new() } else { vec![rows] };
    }
    rows.chunks(STATEMENT_ROWS_MAX).map(<[Values]>::to_vec).collect()
}

/// Values as the driver takes them.
pub(crate) fn positional(values: Values) -> Params {
    if values.is_empty() { Params::Empty } else { Params::Positional(values) }
}

/// The columns of a row, taken one after another. What cannot be read is a defect, never a guess.
pub(crate) struct Cells {
    row: Row,
    next: usize,
}

impl Cells {
    pub(crate) fn new(row: Row) -> Self {
        Self { row, next: 0 }
    }

    /// The next column.
    pub(crate) fn next<T: FromValue>(&mut self) -> Result<T, SqlError> {
        let column = self.next;
        self.next += 1;
        match self.row.take_opt::<T, _>(column) {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => Err(SqlError::defect(format!("column {column}: {error}"))),
            None => Err(SqlError::defect(format!("there is no column {column}"))),
        }
    }
}

/// A text or bytes as a parameter.
pub(crate) fn bytes(value: impl Into<Vec<u8>>) -> Value {
    Value::Bytes(value.into())
}
