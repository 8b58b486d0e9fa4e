//! One database on all its servers, apart from its events: what stores, outbox, inbox and leases share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_kernel::{Clock, ServerIndex, ShardId, ShardMap, StoreError};
use madang_messaging::Supervisor;
use mysql_async::prelude::Queryable;
use mysql_async::{Row, Value};

use crate::errors::SqlError;
use crate::server::Server;
use crate::statement::{Many, STATEMENT_ROWS_MAX, Values, filled};
use crate::transaction::{Cells, Tx, positional};
use crate::{AgesBy, Database, MysqlOptions, snapshot};

const STORE_NOW: &str = include_str!("../sql/backbone/store_now.sql");

/// How long lanes may take to finish what they have when the store closes.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// One database on all its servers. Clones share everything.
#[derive(Clone)]
pub struct Databases {
    inner: Arc<Inner>,
}

struct Inner {
    database: Database,
    options: MysqlOptions,
    map: ShardMap,
    servers: Vec<Arc<Server>>,
    clock: Arc<dyn Clock>,
    supervisor: Mutex<Option<Supervisor>>,
    when_closed: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

/// A store that is dropped without being closed still ends its lanes.
impl Drop for Inner {
    fn drop(&mut self) {
        let supervisor = self.supervisor.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(supervisor) = supervisor {
            supervisor.stop_token().cancel();
        }
    }
}

impl Databases {
    pub(crate) fn new(
        database: Database,
        options: MysqlOptions,
        map: ShardMap,
        servers: Vec<Arc<Server>>,
        clock: Arc<dyn Clock>,
        supervisor: Supervisor,
    ) -> Self {
        let (supervisor, when_closed) = (Mutex::new(Some(supervisor)), Mutex::default());
        Self { inner: Arc::new(Inner { database, options, map, servers, clock, supervisor, when_closed }) }
    }

    /// What the program calls it.
    pub fn name(&self) -> &'static str {
        self.inner.database.name()
    }

    /// What it is called on its servers.
    pub fn name_on_servers(&self) -> String {
        self.inner.database.under(&self.inner.options.database_prefix)
    }

    /// The clock it was opened with.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Which server holds which shard.
    pub fn map(&self) -> &ShardMap {
        &self.inner.map
    }

    /// Its servers, in the order of the configuration.
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.inner.servers
    }

    /// The server that holds a shard.
    pub fn server_of(&self, shard: ShardId) -> &Arc<Server> {
        self.server(self.inner.map.server(shard))
    }

    /// A server by its place in the configuration.
    pub fn server(&self, index: ServerIndex) -> &Arc<Server> {
        &self.inner.servers[usize::from(index.0)]
    }

    /// Rows of one read, by itself: one statement sees one moment.
    pub async fn read(&self, server: &Server, sql: impl AsRef<str>, values: Values) -> Result<Vec<Cells>, SqlError> {
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

    /// Rows of a read for a list of keys, of one moment.
    pub async fn read_many(&self, server: &Server, many: &Many, keys: Vec<Values>) -> Result<Vec<Cells>, SqlError> {
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
        let (ages_by, clock) = (self.inner.options.ages_by, Arc::clone(&self.inner.clock));
        Arc::new(move || match ages_by {
            AgesBy::Server => Value::NULL,
            AgesBy::Clock => Value::Int(clock.now().as_millis()),
        })
    }

    pub(crate) fn options(&self) -> &MysqlOptions {
        &self.inner.options
    }

    /// Runs a task until the store closes.
    pub(crate) fn supervise(&self, start: impl FnOnce(&Supervisor)) {
        let supervisor = self.inner.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(supervisor) = supervisor.as_ref() {
            start(supervisor);
        }
    }

    /// Runs `end` once the store is closed; at once if it is.
    pub(crate) fn when_closed(&self, end: impl FnOnce() + Send + 'static) {
        let supervisor = self.inner.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        if supervisor.is_some() {
            self.inner.when_closed.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(end));
        } else {
            drop(supervisor);
            end();
        }
    }

    pub(crate) async fn close(&self) {
        let supervisor = self.inner.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(supervisor) = supervisor {
            supervisor.shutdown(CLOSE_MAX).await;
        }
        let closers = std::mem::take(&mut *self.inner.when_closed.lock().unwrap_or_else(PoisonError::into_inner));
        for close in closers {
            close();
        }
        for server in &self.inner.servers {
            let _ = tokio::time::timeout(CLOSE_MAX, server.pool().clone().disconnect()).await;
        }
    }
}

/// A call refused because the store is closing.
pub(crate) fn closing() -> StoreError {
    StoreError::unavailable(crate::errors::PART, "the store is closing")
}
