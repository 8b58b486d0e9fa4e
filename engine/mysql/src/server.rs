//! One physical server as one database sees it: how to connect, and a pool for reads and messaging.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use mysql_async::{Conn, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, UrlError};

use crate::errors::SqlError;
use crate::health::Health;
use crate::map_read::MapRead;
use crate::{MysqlOptions, tls};

/// How long a connection may take to be made or to come free.
const CONNECT_MAX_MS: u64 = 2_000;
/// Seconds that a connection nobody needs is kept.
const IDLE_KEPT_S: u64 = 60;
/// Prepared statements that a connection keeps: up to 17 sizes of each that takes rows, and the others.
const STATEMENTS_KEPT: usize = 256;
/// Seconds that a change of a table's definition may make us wait.
const METADATA_LOCK_WAIT_S: u32 = 5;

/// A server and one database on it.
pub struct Server {
    opts: Opts,
    pool: Pool,
    /// Why it cannot be used yet; `None` once it is set up.
    closed: RwLock<Option<String>>,
    health: Health,
    read_attempts: usize,
    /// When the shard map was last read, from whichever server.
    map_read: Arc<MapRead>,
}

impl AsRef<Server> for Server {
    fn as_ref(&self) -> &Server {
        self
    }
}

impl Server {
    /// Describes a server; connects to nothing.
    pub(crate) fn new(
        options: &MysqlOptions,
        url: &str,
        database: &str,
        map_read: Arc<MapRead>,
    ) -> Result<Self, UrlError> {
        let opts = session(options, Opts::from_url(url)?).db_name(Some(database));
        let constraints = PoolConstraints::new(0, options.pooled_connections()).unwrap_or_default();
        // A reset would throw away prepared statements and settings; a transaction left open is rolled back without it.
        let pooled = PoolOpts::new()
            .with_constraints(constraints)
            .with_reset_connection(false)
            // Without it every connection would be closed as soon as it came back.
            .with_inactive_connection_ttl(Duration::from_secs(IDLE_KEPT_S));
        let opts: Opts = opts.pool_opts(pooled).into();
        let closed = RwLock::new(Some("it has not been set up".to_owned()));
        // Every pooled connection may be one that its server has closed.
        let read_attempts = options.pooled_connections() + 1;
        Ok(Self { pool: Pool::new(opts.clone()), opts, closed, health: Health::new(), read_attempts, map_read })
    }

    /// Lets it be used, once it is migrated and its topology compared.
    pub(crate) fn open(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Keeps it from being used, and says why to everybody who wants to.
    pub(crate) fn keep_closed(&self, reason: String) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    /// A connection outside the pool, for a lane. Belongs inside [`Health::guard`], with what is done on it.
    pub(crate) async fn connect(&self) -> Result<Conn, SqlError> {
        self.is_open()?;
        in_time(Conn::new(self.opts.clone())).await
    }

    /// A connection of the pool. Belongs inside [`Health::guard`], with what is done on it.
    #[doc(hidden)]
    pub async fn pooled(&self) -> Result<Conn, SqlError> {
        self.map_read.is_recent()?;
        self.pooled_for_map().await
    }

    /// The same for reading the shard map itself.
    pub(crate) async fn pooled_for_map(&self) -> Result<Conn, SqlError> {
        self.is_open()?;
        self.pooled_for_set_up().await
    }

    /// Whether it responds at all, if only to say that it takes no more connections.
    pub(crate) async fn responds(&self) -> bool {
        let attempt = tokio::time::timeout(Duration::from_millis(CONNECT_MAX_MS), Conn::new(self.opts.clone()));
        matches!(attempt.await, Ok(Ok(_) | Err(mysql_async::Error::Server(_))))
    }

    /// Whether it responds, and what becomes of waiting for it when it does not.
    #[doc(hidden)]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// How often a read is tried.
    #[doc(hidden)]
    pub fn read_attempts(&self) -> usize {
        self.read_attempts
    }

    /// Where it is, and whose database, as a log may say it.
    pub(crate) fn name(&self) -> String {
        format!("{} on {}", self.opts.db_name().unwrap_or_default(), self.address())
    }

    /// Its host and port.
    pub fn address(&self) -> String {
        format!("{}:{}", self.opts.ip_or_hostname(), self.opts.tcp_port())
    }

    /// A connection of the pool to a server that is not yet open to others.
    pub(crate) async fn pooled_for_set_up(&self) -> Result<Conn, SqlError> {
        in_time(self.pool.get_conn()).await
    }

    fn is_open(&self) -> Result<(), SqlError> {
        match &*self.closed.read().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(reason) => Err(SqlError::Unavailable(reason.clone())),
        }
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// A connection that knows no database yet.
pub(crate) async fn connect_without_database(options: &MysqlOptions, url: &str) -> Result<Conn, SqlError> {
    let opts = session(options, Opts::from_url(url).map_err(mysql_async::Error::from)?).db_name(None::<String>);
    in_time(Conn::new(opts)).await
}

/// A connection to one database of a server, outside any pool.
pub(crate) async fn connect_to(options: &MysqlOptions, url: &str, database: &str) -> Result<Conn, SqlError> {
    let opts = session(options, Opts::from_url(url).map_err(mysql_async::Error::from)?).db_name(Some(database));
    in_time(Conn::new(opts)).await
}

/// What holds on every connection.
fn session(options: &MysqlOptions, opts: Opts) -> OptsBuilder {
    let lock_wait_s = options.lock_wait_s.max(1);
    let opts = tls::apply(options, OptsBuilder::from_opts(opts));
    opts.prefer_socket(false).client_found_rows(true).stmt_cache_size(STATEMENTS_KEPT).setup(vec![
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".to_owned(),
        format!(
            "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
                 NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = {lock_wait_s}, \
                 lock_wait_timeout = {METADATA_LOCK_WAIT_S}"
        ),
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin".to_owned(),
    ])
}

async fn in_time<F>(connecting: F) -> Result<Conn, SqlError>
where
    F: Future<Output = Result<Conn, mysql_async::Error>>,
{
    match tokio::time::timeout(Duration::from_millis(CONNECT_MAX_MS), connecting).await {
        Ok(Ok(conn)) => Ok(conn),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(SqlError::Unavailable(format!("no connection within {CONNECT_MAX_MS} ms"))),
    }
}
