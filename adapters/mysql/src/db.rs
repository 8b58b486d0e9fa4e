//! The databases of one service on all its servers: what stores, outbox, inbox and leases share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use madang_kernel::{Clock, ServerIndex, ShardId, ShardMap, StoreError};
use madang_messaging::{Message, Supervisor};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, IsolationLevel, Row, TxOpts, Value};

use crate::errors::SqlError;
use crate::open::{OpenError, set_up};
use crate::server::Server;
use crate::statement::Values;
use crate::transaction::{Cells, Tx, positional};
use crate::{AgesBy, MysqlOptions, Service};

const STORE_NOW: &str = include_str!("../sql/backbone/store_now.sql");

/// How long lanes may take to finish what they have when the store closes.
const CLOSE_MAX_MS: u64 = 10_000;

/// What is told of committed messages, in commit order within a shard, before anybody is answered.
pub(crate) type OnCommit = Arc<dyn Fn(Vec<Message>) + Send + Sync>;
/// Shared with the lanes, which outlive no store but may start before the hook is set.
pub(crate) type CommitHook = Arc<RwLock<Option<OnCommit>>>;

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
    on_commit: CommitHook,
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
    /// topology with the configured one.
    pub async fn open(options: &MysqlOptions, service: Service, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let map = options.shard_map()?;
        let mut servers = Vec::with_capacity(options.servers.len());
        for index in 0..options.servers.len() {
            servers.push(Arc::new(set_up(options, service, &map, index).await?));
        }
        let inner = Inner {
            service,
            options: options.clone(),
            map,
            servers,
            clock,
            on_commit: CommitHook::default(),
            supervisor: Mutex::new(Some(Supervisor::new(service.name()))),
            when_closed: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Tells `hook` of the messages of every committed batch, after COMMIT and before its callers are answered. It must
    /// not wait: a relay's hand-over does not.
    pub fn on_commit(&self, hook: impl Fn(Vec<Message>) + Send + Sync + 'static) {
        *self.inner.on_commit.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
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

    pub(crate) fn commit_hook(&self) -> CommitHook {
        Arc::clone(&self.inner.on_commit)
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
            match outcome.await {
                Err(error) if attempts_left > 0 && error.is_away() => {}
                outcome => return outcome,
            }
        }
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
            match outcome.await {
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
            match outcome.await {
                Err(error) if retry.again(&error).await => {}
                outcome => break outcome,
            }
        }
    }};
}

pub(crate) use {snapshot, transact};
