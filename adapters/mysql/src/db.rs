//! The databases of one service on all its servers: what stores, outbox, inbox and leases share.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use madang_kernel::{Clock, ServerIndex, ShardId, ShardMap, StoreError};
use madang_messaging::{Message, OnError, Supervisor};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, IsolationLevel, Row, TxOpts, Value};

use crate::errors::SqlError;
use crate::hooks::{AfterCommit, Hooks};
use crate::open::{OpenError, SetUp};
use crate::server::Server;
use crate::statement::{Many, STATEMENT_ROWS_MAX, Values, filled};
use crate::transaction::{Cells, Tx, positional};
use crate::{AgesBy, MysqlOptions, Service, health, tls};

const STORE_NOW: &str = include_str!("../sql/backbone/store_now.sql");

/// How long lanes may take to finish what they have when the store closes.
const CLOSE_MAX_MS: u64 = 10_000;

/// The databases of one service. Clones share everything.
#[derive(Clone)]
pub struct Mysql {
    inner: Arc<Inner>,
}

struct Inner {
    service: Service,
    options: MysqlOptions,
    map: ShardMap,
    servers: Vec<Arc<Server>>,
    clock: Arc<dyn Clock>,
    hooks: Hooks,
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

impl Mysql {
    /// Opens the databases of `service` on every server, creates and migrates them where needed, and compares their
    /// topology with the configured one. The shards of a server that is away are unavailable until it has come and been
    /// set up; one that turns out to belong to another topology then stays unavailable, and the log says so.
    pub async fn open(options: &MysqlOptions, service: Service, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let map = options.shard_map()?;
        tls::is_possible(options)?;
        let set_ups = (0..options.servers.len()).map(|index| SetUp::new(options, service, &map, index));
        let set_ups: Vec<SetUp> = set_ups.collect::<Result<_, _>>()?;
        // All of them are heard, so that a start refuses for the same reason each time.
        let are_there = join_all(set_ups.iter().map(SetUp::at_start)).await;
        let are_there: Vec<bool> = are_there.into_iter().collect::<Result<_, _>>()?;
        let supervisor = Supervisor::new(service.name());
        for (set_up, is_there) in set_ups.iter().zip(are_there) {
            let server = Arc::clone(set_up.server());
            supervisor.spawn("look after a server", OnError::Restart, move |stop| {
                health::look_after(Arc::clone(&server), stop).map(Ok::<_, Infallible>)
            });
            if !is_there {
                let set_up = set_up.clone();
                supervisor.spawn("set up a server", OnError::Restart, move |stop| {
                    set_up.clone().once_it_is_there(stop).map(Ok::<_, Infallible>)
                });
            }
        }
        let inner = Inner {
            service,
            options: options.clone(),
            map,
            servers: set_ups.iter().map(|set_up| Arc::clone(set_up.server())).collect(),
            clock,
            hooks: Hooks::default(),
            supervisor: Mutex::new(Some(supervisor)),
            when_closed: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Tells `hook` of the messages of every committed batch, after COMMIT and before its callers are answered. It must
    /// not wait: a relay's hand-over does not.
    pub fn on_commit(&self, hook: impl Fn(Vec<Message>) + Send + Sync + 'static) {
        self.inner.hooks.set_on_commit(Arc::new(hook));
    }

    /// Lets `hook` follow every commit, once [`Self::on_commit`] has been told: callers are answered after it, and the
    /// next batch of their lane does not wait for it.
    pub fn after_commit(&self, hook: Arc<dyn AfterCommit>) {
        self.inner.hooks.set_after_commit(hook);
    }

    /// Takes no more calls, commits those that wait, and closes every connection.
    pub async fn close(&self) {
        let supervisor = self.inner.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(supervisor) = supervisor {
            supervisor.shutdown(Duration::from_millis(CLOSE_MAX_MS)).await;
        }
        let closers = std::mem::take(&mut *self.inner.when_closed.lock().unwrap_or_else(PoisonError::into_inner));
        for close in closers {
            close();
        }
        for server in &self.inner.servers {
            let _ = tokio::time::timeout(Duration::from_millis(CLOSE_MAX_MS), server.pool().clone().disconnect()).await;
        }
    }

    /// The service whose databases these are.
    pub fn service(&self) -> Service {
        self.inner.service
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    pub(crate) fn options(&self) -> &MysqlOptions {
        &self.inner.options
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.inner.hooks
    }

    pub(crate) fn map(&self) -> &ShardMap {
        &self.inner.map
    }

    pub(crate) fn servers(&self) -> &[Arc<Server>] {
        &self.inner.servers
    }

    /// The server that holds a shard.
    pub(crate) fn server_of(&self, shard: ShardId) -> &Arc<Server> {
        self.server(self.inner.map.server(shard))
    }

    pub(crate) fn server(&self, index: ServerIndex) -> &Arc<Server> {
        &self.inner.servers[usize::from(index.0)]
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

    /// The moment by which ages are told, in Unix milliseconds.
    pub(crate) async fn store_now(&self, tx: &mut Tx<'_>) -> Result<i64, SqlError> {
        let found = tx.first(STORE_NOW, vec![self.age_now()]).await?;
        found.ok_or_else(|| SqlError::defect("the server did not tell its time"))?.next()
    }

    /// Rows of one read, by itself: one statement sees one moment.
    pub(crate) async fn read(
        &self,
        server: &Server,
        sql: impl AsRef<str>,
        values: Values,
    ) -> Result<Vec<Cells>, SqlError> {
        let mut attempts_left = self.read_attempts();
        loop {
            attempts_left -= 1;
            let outcome = async {
                let mut conn = server.pooled().await?;
                let rows: Vec<Row> = conn.exec(sql.as_ref(), positional(values.clone())).await?;
                Ok::<_, SqlError>(rows.into_iter().map(Cells::new).collect())
            };
            match server.health().guard(outcome).await {
                Err(error) if attempts_left > 0 && error.is_away() => {}
                outcome => return outcome,
            }
        }
    }

    /// Rows of a read for a list of keys, of one moment.
    pub(crate) async fn read_many(
        &self,
        server: &Server,
        many: &Many,
        keys: Vec<Values>,
    ) -> Result<Vec<Cells>, SqlError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        if keys.len() <= STATEMENT_ROWS_MAX {
            let keys = filled(keys);
            return self.read(server, many.sql(keys.len()), keys.concat()).await;
        }
        snapshot!(self, server, |tx| tx.read_many(many, keys.clone()))
    }

    /// How often a read is tried: every pooled connection may be one that its server has closed.
    pub(crate) fn read_attempts(&self) -> usize {
        self.inner.options.pooled_connections() + 1
    }
}

/// Options of a transaction that sees one moment and changes nothing.
pub(crate) fn one_moment() -> TxOpts {
    let mut options = TxOpts::new();
    options.with_isolation_level(IsolationLevel::RepeatableRead).with_readonly(true).with_consistent_snapshot(true);
    options
}

/// A transaction on a pooled connection.
pub(crate) async fn begin(conn: &mut Conn, options: TxOpts) -> Result<Tx<'_>, SqlError> {
    Ok(Tx::new(conn.start_transaction(options).await?))
}

/// A call refused because the store is closing.
pub(crate) fn closing() -> StoreError {
    StoreError::unavailable(crate::errors::PART, "the store is closing")
}

/// Runs `$body` in a read-only transaction of one moment on `$server`, again on another connection when one was lost.
macro_rules! snapshot {
    ($db:expr, $server:expr, |$tx:ident| $body:expr) => {{
        let mut attempts_left = $db.read_attempts();
        loop {
            attempts_left -= 1;
            let outcome = async {
                let mut conn = $server.pooled().await?;
                let mut $tx = $crate::db::begin(&mut conn, $crate::db::one_moment()).await?;
                let found = $body.await?;
                $tx.commit().await?;
                Ok::<_, $crate::errors::SqlError>(found)
            };
            match $server.health().guard(outcome).await {
                Err(error) if attempts_left > 0 && error.is_away() => {}
                outcome => break outcome,
            }
        }
    }};
}

/// Runs `$body` in a transaction on `$server`, the whole of it again when another was in the way. The outcome of a lost
/// COMMIT is not known to the caller: only for what may happen twice, or what its own keys make happen once.
macro_rules! transact {
    ($db:expr, $server:expr, |$tx:ident| $body:expr) => {{
        let mut retry = $crate::retry::Retry::new();
        loop {
            let outcome = async {
                let mut conn = $server.pooled().await?;
                let mut $tx = $crate::db::begin(&mut conn, Default::default()).await?;
                match $body.await {
                    Ok(done) => {
                        $tx.commit().await?;
                        Ok(done)
                    }
                    Err(error) => {
                        $tx.roll_back().await;
                        Err(error)
                    }
                }
            };
            match $server.health().guard(outcome).await {
                Err(error) if retry.again(&error).await => {}
                outcome => break outcome,
            }
        }
    }};
}

pub(crate) use {snapshot, transact};
