//! One database on all its servers, apart from its events: what stores, outbox, inbox and leases share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_kernel::{Clock, ServerIndex, ShardId, StoreError};
use madang_messaging::Supervisor;
use mysql_async::prelude::Queryable;
use mysql_async::{Row, Value};

use crate::errors::SqlError;
use crate::server::Server;
use crate::statement::{Many, STATEMENT_ROWS_MAX, Values, filled};
use crate::topology::{Placement, Topology};
use crate::transaction::{Cells, Tx, among, positional};
use crate::{AgesBy, MysqlOptions, snapshot};

const STORE_NOW: &str = include_str!("../sql/backbone/store_now.sql");

/// How long lanes may take to finish what they have when the store closes.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// One database on all its servers. Clones share everything.
#[derive(Clone)]
pub struct Databases {
    inner: Arc<Inner>,
}

struct Inner {
    topology: Arc<Topology>,
    clock: Arc<dyn Clock>,
    tasks: Arc<Tasks>,
    when_closed: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

/// The tasks of a database, until it closes.
pub(crate) struct Tasks(Mutex<Option<Supervisor>>);

impl Tasks {
    pub(crate) fn new(supervisor: Supervisor) -> Self {
        Self(Mutex::new(Some(supervisor)))
    }

    /// Starts a task; nothing once the database is closed.
    pub(crate) fn with(&self, start: impl FnOnce(&Supervisor)) {
        if let Some(supervisor) = self.lock().as_ref() {
            start(supervisor);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Supervisor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store that is dropped without being closed still ends its lanes.
impl Drop for Inner {
    fn drop(&mut self) {
        self.tasks.with(|supervisor| supervisor.stop_token().cancel());
    }
}

impl Databases {
    pub(crate) fn new(topology: Arc<Topology>, clock: Arc<dyn Clock>, tasks: Arc<Tasks>) -> Self {
        Self { inner: Arc::new(Inner { topology, clock, tasks, when_closed: Mutex::default() }) }
    }

    /// What the program calls it.
    pub fn name(&self) -> &'static str {
        self.inner.topology.database.name()
    }

    /// What it is called on its servers.
    pub fn name_on_servers(&self) -> String {
        self.inner.topology.name.clone()
    }

    /// The clock it was opened with.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Which server holds which shard now.
    pub fn map(&self) -> Arc<Placement> {
        self.inner.topology.placement()
    }

    /// Its servers, by their numbers.
    pub fn servers(&self) -> Vec<Arc<Server>> {
        self.map().servers().to_vec()
    }

    /// The servers that hold shards, each with those that it holds, all by one map. A server may have rows of a shard that it
    /// does not hold, while the shard moves and for a while afterwards: whoever asks every server leaves them out.
    pub fn holders(&self) -> Vec<(Arc<Server>, Vec<ShardId>)> {
        self.map().holders()
    }

    /// Where its servers are, by their numbers.
    pub fn addresses(&self) -> Vec<String> {
        self.map().servers().iter().map(|server| server.address()).collect()
    }

    /// The server that holds a shard.
    pub fn server_of(&self, shard: ShardId) -> Arc<Server> {
        Arc::clone(self.map().server_of(shard))
    }

    /// A server by its number.
    pub fn server(&self, index: ServerIndex) -> Arc<Server> {
        Arc::clone(&self.map().servers()[usize::from(index.0)])
    }

    /// Waits until somebody takes writes for a shard that `refused_by` took none for. False when it takes too long.
    #[doc(hidden)]
    pub async fn is_writable_again(&self, shard: ShardId, refused_by: &Arc<Server>) -> bool {
        self.inner.topology.is_writable_again(shard, refused_by).await
    }

    /// Rows of one read, by itself: one statement sees one moment.
    pub async fn read(
        &self,
        server: impl AsRef<Server>,
        sql: impl AsRef<str>,
        values: Values,
    ) -> Result<Vec<Cells>, SqlError> {
        let server = server.as_ref();
        let mut attempts_left = server.read_attempts();
        loop {
            attempts_left -= 1;
            let outcome = async {
                let mut conn = server.pooled().await?;
                let rows: Vec<Row> = conn.exec(sql.as_ref(), positional(values.clone())).await?;
                Ok::<_, SqlError>(rows.into_iter().map(Cells::new).collect())
            };
            match server.health().guard(outcome).await {
                Err(error) if attempts_left > 0 && error.is_unavailable() => {}
                outcome => return outcome,
            }
        }
    }

    /// Rows of a read among the shards of a list, of one moment; its other values in the order of the statement.
    pub async fn read_among(
        &self,
        server: impl AsRef<Server>,
        sql: &'static str,
        shards: &[ShardId],
        values: Values,
    ) -> Result<Vec<Cells>, SqlError> {
        let (sql, values) = among(sql, shards, &values)?;
        self.read(server, sql, values).await
    }

    /// Rows of a read for a list of keys, of one moment.
    pub async fn read_many(
        &self,
        server: impl AsRef<Server>,
        many: &Many,
        keys: Vec<Values>,
    ) -> Result<Vec<Cells>, SqlError> {
        let server = server.as_ref();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        if keys.len() <= STATEMENT_ROWS_MAX {
            let keys = filled(keys);
            return self.read(server, many.sql(keys.len()), keys.concat()).await;
        }
        snapshot!(server, |tx| tx.read_many(many, keys.clone()))
    }

    /// The moment by which ages are told, in Unix milliseconds: the server's own, or the clock's where a test says so.
    pub async fn store_now(&self, tx: &mut Tx<'_>) -> Result<i64, SqlError> {
        let found = tx.first(STORE_NOW, vec![self.age_now()]).await?;
        found.ok_or_else(|| SqlError::defect("the server did not tell its time"))?.next()
    }

    /// The moment to tell ages by, as a statement takes it: NULL lets the server take its own.
    pub(crate) fn age_now(&self) -> Value {
        self.ages()()
    }

    /// As [`Self::age_now`], for who must not hold the database.
    pub(crate) fn ages(&self) -> Arc<dyn Fn() -> Value + Send + Sync> {
        let (ages_by, clock) = (self.options().ages_by, Arc::clone(&self.inner.clock));
        Arc::new(move || match ages_by {
            AgesBy::Server => Value::NULL,
            AgesBy::Clock => Value::Int(clock.now().as_millis()),
        })
    }

    pub(crate) fn options(&self) -> &MysqlOptions {
        &self.inner.topology.options
    }

    /// Runs a task until the store closes.
    pub(crate) fn supervise(&self, start: impl FnOnce(&Supervisor)) {
        self.inner.tasks.with(start);
    }

    /// Runs `end` once the store is closed; at once if it is.
    pub(crate) fn when_closed(&self, end: impl FnOnce() + Send + 'static) {
        let supervisor = self.inner.tasks.lock();
        if supervisor.is_some() {
            self.inner.when_closed.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(end));
        } else {
            drop(supervisor);
            end();
        }
    }

    pub(crate) async fn close(&self) {
        let supervisor = self.inner.tasks.lock().take();
        if let Some(supervisor) = supervisor {
            supervisor.shutdown(CLOSE_MAX).await;
        }
        let closers = std::mem::take(&mut *self.inner.when_closed.lock().unwrap_or_else(PoisonError::into_inner));
        for close in closers {
            close();
        }
        for server in self.servers() {
            let _ = tokio::time::timeout(CLOSE_MAX, server.pool().disconnect()).await;
        }
    }
}

/// A call refused because the store is closing.
pub(crate) fn closing() -> StoreError {
    StoreError::unavailable(crate::errors::PART, "the store is closing")
}
