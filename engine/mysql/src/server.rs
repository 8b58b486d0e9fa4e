//! One server as one database sees it: which of its members is used, how to connect to it, and a pool for reads and messaging.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::join_all;
use mysql_async::{Conn, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, UrlError};

use crate::acknowledged::Acknowledged;
use crate::errors::SqlError;
use crate::health::Health;
use crate::map_read::MapRead;
use crate::members::{self, Choice, Seen};
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
    database: String,
    /// Its primary and the replicas of it, in the order of the configuration.
    members: Vec<Opts>,
    /// The one that is taken for the primary.
    in_use: RwLock<Arc<Member>>,
    acknowledged: Acknowledged,
    /// Why it cannot be used yet; `None` once it is set up.
    closed: RwLock<Option<String>>,
    health: Health,
    read_attempts: usize,
    /// When the shard map was last read, from whichever server.
    map_read: Arc<MapRead>,
}

/// A member in use. Another one, or the same again, has another generation: connections of an earlier one are not used any more.
struct Member {
    index: usize,
    generation: u64,
    pool: Pool,
}

/// What came of looking for the member that takes writes.
#[derive(Debug)]
pub(crate) enum Look {
    /// The one in use does.
    Stays,
    /// Another one does, and is used from now on: where it is.
    Changed(String),
    /// The one in use responds, and nobody takes writes: what each said.
    ReadOnly(String),
    /// Nobody can be used: what each said.
    Nobody(String),
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
        let constraints = PoolConstraints::new(0, options.pooled_connections()).unwrap_or_default();
        // A reset would throw away prepared statements and settings; a transaction left open is rolled back without it.
        let pooled = PoolOpts::new()
            .with_constraints(constraints)
            .with_reset_connection(false)
            // Without it every connection would be closed as soon as it came back.
            .with_inactive_connection_ttl(Duration::from_secs(IDLE_KEPT_S));
        let mut members = Vec::new();
        for url in members::urls_of(url) {
            let opts = session(options, Opts::from_url(&url)?).db_name(Some(database)).pool_opts(pooled.clone());
            members.push(Opts::from(opts));
        }
        let pool = Pool::new(members[0].clone());
        let in_use = RwLock::new(Arc::new(Member { index: 0, generation: 0, pool }));
        let closed = RwLock::new(Some("it has not been set up".to_owned()));
        // Every pooled connection may be one that its server has closed.
        let read_attempts = options.pooled_connections() + 1;
        let (database, acknowledged) = (database.to_owned(), Acknowledged::default());
        let health = Health::new(members.len() > 1);
        Ok(Self { database, members, in_use, acknowledged, closed, health, read_attempts, map_read })
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
        in_time(Conn::new(self.opts_in_use())).await
    }

    /// Which choice of a member is in force.
    pub(crate) fn generation(&self) -> u64 {
        self.in_use().generation
    }

    /// The batches that this process was told to be committed.
    pub(crate) fn acknowledged(&self) -> &Acknowledged {
        &self.acknowledged
    }

    fn in_use(&self) -> Arc<Member> {
        Arc::clone(&self.in_use.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn opts_in_use(&self) -> Opts {
        self.members[self.in_use().index].clone()
    }

    /// Uses a member from now on, with connections of its own: what is under way with another one is broken
    /// off, and its connections are not used again.
    fn switch_to(&self, index: usize) {
        let pool = Pool::new(self.members[index].clone());
        let mut in_use = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        let is_another = in_use.index != index;
        *in_use = Arc::new(Member { index, generation: in_use.generation + 1, pool });
        drop(in_use);
        if is_another {
            self.health.note_moved();
        }
    }

    /// Asks every member whether it takes writes, and uses the one that does. `anew` makes new connections also to the one that
    /// is in use: its name may lead elsewhere by now.
    pub(crate) async fn look(&self, anew: bool) -> Look {
        let acknowledged = self.acknowledged.batches();
        let probes = self.members.iter().map(|opts| members::probe(opts, Some(&self.database), &acknowledged));
        let seen: Vec<Seen> = join_all(probes).await;
        let told = || members::in_words(&seen, &self.members);
        match members::choose(&seen, self.in_use().index) {
            Choice::Stay => {
                if anew {
                    self.switch_to(self.in_use().index);
                }
                Look::Stays
            }
            Choice::Contested(candidates) => {
                for (member, server_id) in candidates {
                    if members::begin_term(&self.members[member], server_id).await.is_err() {
                        continue;
                    }
                    let is_another = member != self.in_use().index;
                    if is_another || anew {
                        self.switch_to(member);
                    }
                    return if is_another { Look::Changed(self.address()) } else { Look::Stays };
                }
                Look::Nobody(format!("{}; none of them answers a COMMIT", told()))
            }
            Choice::Take { member, server_id } => match members::take_over(&self.members[member], server_id).await {
                Ok(()) => {
                    self.switch_to(member);
                    Look::Changed(self.address())
                }
                // Before it is set up there is nothing to take over.
                Err(_) if self.is_open().is_err() => {
                    self.switch_to(member);
                    Look::Changed(self.address())
                }
                Err(error) => Look::Nobody(format!("{}; it cannot be taken for the primary: {error}", told())),
            },
            Choice::ReadOnly => Look::ReadOnly(told()),
            Choice::Nobody => Look::Nobody(told()),
        }
    }

    /// Has the member in use known as the primary, once it is set up.
    pub(crate) async fn is_primary(&self) -> Result<(), SqlError> {
        match members::probe(&self.opts_in_use(), Some(&self.database), &[]).await {
            Seen::Writable { server_id, .. } => members::take_over(&self.opts_in_use(), server_id).await,
            other => Err(SqlError::ReadOnly(format!("{}: {other:?}", self.address()))),
        }
    }

    /// The URL-less way to the member in use, without a database.
    pub(crate) async fn connect_without_database(&self) -> Result<Conn, SqlError> {
        in_time(Conn::new(OptsBuilder::from_opts(self.opts_in_use()).db_name(None::<String>))).await
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
        format!("{} on {}", self.database, self.address())
    }

    /// Host and port of the member that is used.
    pub fn address(&self) -> String {
        members::address(&self.members[self.in_use().index])
    }

    /// Host and port of every member, separated by commas: as the shard map has them.
    pub(crate) fn addresses(&self) -> String {
        self.members.iter().map(members::address).collect::<Vec<_>>().join(",")
    }

    /// A connection of the pool to a server that is not yet open to others.
    pub(crate) async fn pooled_for_set_up(&self) -> Result<Conn, SqlError> {
        in_time(self.pool().get_conn()).await
    }

    fn is_open(&self) -> Result<(), SqlError> {
        match &*self.closed.read().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(reason) => Err(SqlError::Unavailable(reason.clone())),
        }
    }

    pub(crate) fn pool(&self) -> Pool {
        self.in_use().pool.clone()
    }
}

/// A connection to the primary of a server, which knows no database yet.
pub(crate) async fn connect_without_database(options: &MysqlOptions, url: &str) -> Result<Conn, SqlError> {
    let opts = primary_of(options, url, None).await?;
    in_time(Conn::new(opts.db_name(None::<String>))).await
}

/// A connection to one database of the primary of a server, outside any pool.
pub(crate) async fn connect_to(options: &MysqlOptions, url: &str, database: &str) -> Result<Conn, SqlError> {
    let opts = primary_of(options, url, Some(database)).await?;
    in_time(Conn::new(opts.db_name(Some(database)))).await
}

/// The member of a server that takes writes, for who uses it once; the only one is not asked.
async fn primary_of(options: &MysqlOptions, url: &str, database: Option<&str>) -> Result<OptsBuilder, SqlError> {
    let mut members = Vec::new();
    for url in members::urls_of(url) {
        let opts = Opts::from_url(&url).map_err(mysql_async::Error::from)?;
        members.push(Opts::from(session(options, opts)));
    }
    let mut in_use = 0;
    if members.len() > 1 {
        let seen: Vec<Seen> = join_all(members.iter().map(|opts| members::probe(opts, database, &[]))).await;
        match members::choose(&seen, 0) {
            Choice::Stay => {}
            // Who uses it once has nothing to begin; running processes settle it.
            Choice::Contested(_) => {
                return Err(SqlError::Unavailable(format!(
                    "two members take writes: {}",
                    members::in_words(&seen, &members)
                )));
            }
            Choice::Take { member, .. } => in_use = member,
            Choice::ReadOnly | Choice::Nobody => {
                return Err(SqlError::Unavailable(members::in_words(&seen, &members)));
            }
        }
    }
    Ok(OptsBuilder::from_opts(members.swap_remove(in_use)))
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
