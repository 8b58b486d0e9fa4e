//! A transaction under way, and the rows that its statements return.

use std::sync::LazyLock;

use madang_kernel::ShardId;
use mysql_async::prelude::{FromValue, Queryable};
use mysql_async::{Conn, IsolationLevel, Params, Row, Transaction, TxOpts, Value};

use crate::errors::SqlError;
use crate::statement::{Many, STATEMENT_ROWS_MAX, Values, filled, pieces};

static HELD: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/shard/held.sql")));

/// A transaction, from its start to COMMIT.
pub struct Tx<'c> {
    inner: Transaction<'c>,
    wrote: bool,
}

impl<'c> Tx<'c> {
    /// Begins one on a connection, with the isolation of its session: each read sees what is committed.
    pub async fn begin(conn: &'c mut Conn) -> Result<Self, SqlError> {
        Self::start(conn, TxOpts::default()).await
    }

    /// Begins one that sees one moment and changes nothing.
    pub async fn snapshot(conn: &'c mut Conn) -> Result<Self, SqlError> {
        let mut options = TxOpts::new();
        options.with_isolation_level(IsolationLevel::RepeatableRead).with_readonly(true).with_consistent_snapshot(true);
        Self::start(conn, options).await
    }

    async fn start(conn: &'c mut Conn, options: TxOpts) -> Result<Self, SqlError> {
        Ok(Self { inner: conn.start_transaction(options).await?, wrote: false })
    }

    /// Rows of a read.
    pub async fn read(&mut self, sql: &'static str, values: Values) -> Result<Vec<Cells>, SqlError> {
        let rows: Vec<Row> = self.inner.exec(sql, positional(values)).await?;
        Ok(rows.into_iter().map(Cells::new).collect())
    }

    /// The first row of a read.
    pub async fn first(&mut self, sql: &'static str, values: Values) -> Result<Option<Cells>, SqlError> {
        Ok(self.read(sql, values).await?.into_iter().next())
    }

    /// Rows of a read for a list of keys; answers in the order of the statement, list piece by list piece.
    pub async fn read_many(&mut self, many: &Many, keys: Vec<Values>) -> Result<Vec<Cells>, SqlError> {
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
    pub async fn read_many_between(
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

    /// Rows of a read among the shards of a list; its other values in the order of the statement.
    pub async fn read_among(
        &mut self,
        sql: &'static str,
        shards: &[ShardId],
        values: Values,
    ) -> Result<Vec<Cells>, SqlError> {
        let (sql, values) = among(sql, shards, &values)?;
        let rows: Vec<Row> = self.inner.exec(sql, positional(values)).await?;
        Ok(rows.into_iter().map(Cells::new).collect())
    }

    /// Runs a write among the shards of a list; returns the rows it reached.
    pub async fn write_among(
        &mut self,
        sql: &'static str,
        shards: &[ShardId],
        values: Values,
    ) -> Result<u64, SqlError> {
        let (sql, values) = among(sql, shards, &values)?;
        self.wrote = true;
        self.inner.exec_drop(sql, positional(values)).await?;
        Ok(self.inner.affected_rows())
    }

    /// Runs a write; returns the rows it reached.
    pub async fn write(&mut self, sql: &'static str, values: Values) -> Result<u64, SqlError> {
        self.wrote = true;
        self.inner.exec_drop(sql, positional(values)).await?;
        Ok(self.inner.affected_rows())
    }

    /// Runs a statement that is not known at compile time.
    pub(crate) async fn execute(&mut self, sql: &str, params: Params) -> Result<u64, SqlError> {
        self.wrote = true;
        self.inner.exec_drop(sql, params).await?;
        Ok(self.inner.affected_rows())
    }

    /// Whole rows of a read that is not known at compile time.
    pub(crate) async fn whole_rows(&mut self, sql: &str, values: Values) -> Result<Vec<Values>, SqlError> {
        let rows: Vec<Row> = self.inner.exec(sql, positional(values)).await?;
        Ok(rows.into_iter().map(Row::unwrap).collect())
    }

    /// Inserts rows, each of them once.
    pub async fn insert_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<(), SqlError> {
        for piece in pieces(rows) {
            self.wrote = true;
            let sql = many.sql(piece.len());
            self.inner.exec_drop(sql, positional(piece.concat())).await?;
        }
        Ok(())
    }

    /// Runs a write to which it makes no difference that a row comes twice: an absolute value, a deletion.
    pub async fn set_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<(), SqlError> {
        self.reach_many(many, rows).await.map(|_| ())
    }

    /// As [`Self::set_many`]; returns the rows it reached.
    pub async fn reach_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<u64, SqlError> {
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
    pub async fn touch_many(&mut self, many: &Many, rows: Vec<Values>) -> Result<(), SqlError> {
        let wrote = self.wrote;
        self.reach_many(many, rows).await?;
        self.wrote = wrote;
        Ok(())
    }

    /// Which of some shards this server takes writes for. The answer holds until the transaction ends. Refused where the server
    /// is read-only, also for users whom it would not refuse.
    pub(crate) async fn held(&mut self, shards: &[ShardId]) -> Result<Vec<ShardId>, SqlError> {
        let keys = shards.iter().map(|shard| vec![shard.number().into()]).collect();
        let mut held = Vec::with_capacity(shards.len());
        for mut cells in self.read_many(&HELD, keys).await? {
            held.extend(ShardId::new(cells.next()?));
            if cells.next::<u8>()? != 0 {
                return Err(SqlError::ReadOnly("it takes no writes any more".to_owned()));
            }
        }
        Ok(held)
    }

    /// Whether anything was written.
    pub fn wrote(&self) -> bool {
        self.wrote
    }

    /// Commits it.
    pub async fn commit(self) -> Result<(), SqlError> {
        Ok(self.inner.commit().await?)
    }

    /// Ends it without a trace; a connection that fails here is found out by its next statement.
    pub async fn roll_back(self) {
        let _ = self.inner.rollback().await;
    }
}

/// A statement for the shards of a list, with its values in order.
pub(crate) fn among(sql: &'static str, shards: &[ShardId], values: &[Value]) -> Result<(String, Values), SqlError> {
    let many = Many::parse(sql);
    // Without the list it would reach rows of shards that the server does not hold.
    if !many.has_rows() || values.len() < many.head_values() || shards.is_empty() {
        return Err(SqlError::defect(format!("no list of shards for: {sql}")));
    }
    let (head, tail) = values.split_at(many.head_values());
    let keys = filled(shards.iter().map(|shard| vec![shard.number().into()]).collect());
    Ok((many.sql(keys.len()), [head, &keys.concat(), tail].concat()))
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
pub struct Cells {
    row: Row,
    next: usize,
}

impl Cells {
    pub(crate) fn new(row: Row) -> Self {
        Self { row, next: 0 }
    }

    /// The next column.
    #[expect(clippy::should_implement_trait, reason = "columns differ in type, so this is no iterator")]
    pub fn next<T: FromValue>(&mut self) -> Result<T, SqlError> {
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
pub fn bytes(value: impl Into<Vec<u8>>) -> Value {
    Value::Bytes(value.into())
}
