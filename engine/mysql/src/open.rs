//! Opening a database on its servers: created and migrated where needed, and refused where it belongs to another topology. A
//! server that cannot be reached keeps nobody from starting; it is opened when it comes.

use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{ServerIndex, ShardId, ShardMap, ShardMapError};
use madang_messaging::{Backoff, Chance, Stop};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use refinery::Runner;

use crate::errors::{SqlError, is_caused_by_absence};
use crate::inspect::newest;
use crate::server::{Server, connect_without_database};
use crate::{Database, MysqlOptions};

const TAKE_LOCK: &str = include_str!("../sql/backbone/take_lock.sql");
const GIVE_LOCK: &str = include_str!("../sql/backbone/give_lock.sql");
const STORE_TOPOLOGY: &str = include_str!("../sql/backbone/store_topology.sql");
const HISTORY: &str = include_str!("../sql/inspect/history.sql");
const TOPOLOGY: &str = include_str!("../sql/backbone/topology.sql");

/// How long a start waits while another process migrates the same database.
const MIGRATION_WAIT_S: u64 = 60;
/// Between two attempts to reach a server that was unreachable at the start.
const UNREACHABLE_PAUSE: Backoff = Backoff { base_ms: 250, cap_ms: 5_000 };
/// Databases whose name is longer are refused by the server.
const DATABASE_NAME_MAX: usize = 64;

mod backbone {
    refinery::embed_migrations!("migrations/backbone");
}
/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The servers' shards do not make a map.
    #[error(transparent)]
    ShardMap(#[from] ShardMapError),
    /// A name that no database may have, and that must not get into a statement.
    #[error("\"{0}\" cannot be the name of a database: use at most 64 letters, digits and \"_\"")]
    DatabaseName(String),
    /// A server's address cannot be understood.
    #[error("server {server}: {reason}")]
    Url {
        /// Position of the server in the configuration.
        server: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Connections cannot be encrypted as configured.
    #[error("cannot encrypt connections to the database servers: {0}")]
    Tls(String),
    /// The database was set up for another topology.
    #[error(
        "{database} on server {server} was set up as server {found_server} of the shard map \"{found}\", and the \
         configuration says \"{configured}\": restore the old map in the configuration, or move the shards first"
    )]
    OtherTopology {
        /// Position of the server in the configuration.
        server: usize,
        /// The database.
        database: String,
        /// The server it was set up as.
        found_server: u8,
        /// The map it was set up with.
        found: String,
        /// The map of the configuration.
        configured: String,
    },
    /// The database was written by a newer version of this program: run that one.
    #[error(
        "{database} on server {server} was written by a newer version of this program (schema {found}, this version knows \
         {known}): run that version"
    )]
    Newer {
        /// Position of the server in the configuration.
        server: usize,
        /// The database.
        database: String,
        /// The schema in the database.
        found: i64,
        /// The newest schema of this program.
        known: i64,
    },
    /// A server responds, and refuses what is needed.
    #[error("server {server}: {reason}")]
    Server {
        /// Position of the server in the configuration.
        server: usize,
        /// What it said.
        reason: String,
    },
}

/// A database on one server, and what it takes to set it up.
#[derive(Clone)]
pub(crate) struct SetUp {
    options: MysqlOptions,
    database: Database,
    map: ShardMap,
    index: usize,
    /// What the database is called on the server.
    name: String,
    server: Arc<Server>,
}

impl SetUp {
    /// Describes it; connects to nothing.
    pub(crate) fn new(
        options: &MysqlOptions,
        database: &Database,
        map: &ShardMap,
        index: usize,
    ) -> Result<Self, OpenError> {
        let name = name_on_servers(options, database)?;
        let server = Server::new(options, &options.servers[index].url, &name)
            .map_err(|error| OpenError::Url { server: index, reason: error.to_string() })?;
        let (options, database, map) = (options.clone(), database.clone(), map.clone());
        Ok(Self { options, database, map, index, name, server: Arc::new(server) })
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Sets the server up and lets it be used. One that cannot be reached keeps nobody from starting: false.
    pub(crate) async fn at_start(&self) -> Result<bool, OpenError> {
        match self.run().await {
            Ok(()) => Ok(true),
            Err(SetUpError::Unreachable(reason)) => {
                let (server, database) = (self.index, &self.name);
                tracing::warn!(
                    server,
                    database,
                    "database server {server} cannot be reached, starting without it; calls to its shards are refused until it is there: {reason}"
                );
                Ok(false)
            }
            Err(SetUpError::Refused(error)) => Err(error),
        }
    }

    /// Tries until the server is there and set up, or belongs to another topology, which time does not mend.
    pub(crate) async fn once_it_is_there(self, stop: Stop) {
        let (server, database) = (self.index, &self.name);
        let (mut chance, mut attempts, mut logged) = (Chance::seeded(rand::random()), 0, String::new());
        loop {
            attempts += 1;
            let pause = Duration::from_millis(UNREACHABLE_PAUSE.delay_ms(attempts, &mut chance));
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            match self.run().await {
                Ok(()) => {
                    tracing::info!(
                        server,
                        database,
                        "database server {server} was reached and set up, its shards are served"
                    );
                    return;
                }
                Err(SetUpError::Unreachable(_)) => {}
                Err(SetUpError::Refused(error)) => {
                    let reason = error.to_string();
                    if logged != reason {
                        tracing::error!(
                            server,
                            database,
                            "database server {server} was reached but cannot be used: {reason}"
                        );
                        self.server.keep_closed(reason.clone());
                    }
                    if matches!(error, OpenError::OtherTopology { .. }) {
                        return;
                    }
                    logged = reason;
                }
            }
        }
    }

    /// Creates the database if it is not there, migrates it, compares its topology, and opens the server to everybody.
    async fn run(&self) -> Result<(), SetUpError> {
        let mut conn = connect_without_database(&self.options, &self.options.servers[self.index].url)
            .await
            .map_err(|error| self.failed(&error))?;
        // A name cannot be a parameter; this one was checked letter by letter.
        let create =
            format!("CREATE DATABASE IF NOT EXISTS `{}` DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin", self.name);
        conn.query_drop(create).await.map_err(|error| self.failed(&error.into()))?;
        // Taken on a connection of its own, which gives it back even if this process dies.
        let lock = format!("madang.{}", self.name);
        let taken: Option<Option<i64>> =
            conn.exec_first(TAKE_LOCK, (&lock, MIGRATION_WAIT_S)).await.map_err(|error| self.failed(&error.into()))?;
        if taken.flatten() != Some(1) {
            return Err(SetUpError::Unreachable("another process has been migrating for too long".to_owned()));
        }
        let done = match self.migrate(&mut conn).await {
            Ok(()) => self.compare().await,
            Err(error) => Err(error),
        };
        let _ = conn.exec_drop(GIVE_LOCK, (&lock,)).await;
        let _ = tokio::time::timeout(Duration::from_secs(1), conn.disconnect()).await;
        done.map(|()| self.server.open())
    }

    /// Brings the database up to date, unless a newer version of the program has been there.
    async fn migrate(&self, conn: &mut Conn) -> Result<(), SetUpError> {
        let newer = newer(conn, &self.name, &self.database).await.map_err(|error| self.failed(&error))?;
        if let Some((found, known)) = newer {
            let (server, database) = (self.index, self.name.clone());
            return Err(SetUpError::Refused(OpenError::Newer { server, database, found, known }));
        }
        match migrate(&self.server, &self.database).await {
            Ok(()) => Ok(()),
            Err(error) if is_caused_by_absence(&error) => Err(SetUpError::Unreachable(error.to_string())),
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// The first start writes the topology down; every later one must have the same.
    async fn compare(&self) -> Result<(), SetUpError> {
        let configured = written(&self.map);
        let mut conn = self.server.pooled_for_set_up().await.map_err(|error| self.failed(&error))?;
        let (found, found_server) =
            stored(&mut conn, &configured, self.index).await.map_err(|error| self.failed(&error))?;
        if found == configured && usize::from(found_server) == self.index {
            return Ok(());
        }
        let (server, database) = (self.index, self.name.clone());
        Err(SetUpError::Refused(OpenError::OtherTopology { server, database, found_server, found, configured }))
    }

    fn failed(&self, error: &SqlError) -> SetUpError {
        match error {
            SqlError::Unavailable(_) | SqlError::Full(_) | SqlError::Conflict(_) => {
                SetUpError::Unreachable(error.to_string())
            }
            SqlError::Duplicate(_) | SqlError::Defect(_) => self.refused(error),
        }
    }

    fn refused(&self, error: &dyn std::fmt::Display) -> SetUpError {
        SetUpError::Refused(OpenError::Server { server: self.index, reason: error.to_string() })
    }
}

/// Why a server was not set up.
enum SetUpError {
    /// It does not respond, or is busy: later it may.
    Unreachable(String),
    /// It responds, and will not do.
    Refused(OpenError),
}

fn name_on_servers(options: &MysqlOptions, database: &Database) -> Result<String, OpenError> {
    let name = database.under(&options.database_prefix);
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && name.len() <= DATABASE_NAME_MAX { Ok(name) } else { Err(OpenError::DatabaseName(name)) }
}

/// The migrations of the engine's own tables, with the table that remembers which of them have run.
pub(crate) fn backbone_runner() -> (&'static str, Runner) {
    ("schema_backbone", backbone::migrations::runner())
}

/// A set of migrations that has gone further than this program knows: its history, what was found, what is known.
async fn newer(conn: &mut Conn, name: &str, database: &Database) -> Result<Option<(i64, i64)>, SqlError> {
    let own = database.migrations().iter().map(|migrations| (migrations.history, (migrations.runner)()));
    for (history, runner) in std::iter::once(backbone_runner()).chain(own) {
        let known = runner.get_migrations().iter().map(|step| i64::from(step.version())).max().unwrap_or(0);
        let there: Option<String> = conn.exec_first(HISTORY, (name, history)).await?;
        if there.is_none() {
            continue;
        }
        let found = newest(conn, name, history).await?;
        if found > known {
            return Ok(Some((found, known)));
        }
    }
    Ok(None)
}

async fn migrate(server: &Server, database: &Database) -> Result<(), refinery::Error> {
    let (history, runner) = backbone_runner();
    run(runner, history, server).await?;
    for migrations in database.migrations() {
        run((migrations.runner)(), migrations.history, server).await?;
    }
    Ok(())
}

async fn run(mut runner: Runner, table: &str, server: &Server) -> Result<(), refinery::Error> {
    runner.set_migration_table_name(table);
    runner.run_async(&mut server.pool().clone()).await.map(|_| ())
}

async fn stored(conn: &mut Conn, configured: &str, index: usize) -> Result<(String, u8), SqlError> {
    conn.exec_drop(STORE_TOPOLOGY, (configured, index)).await?;
    let found: Option<(String, u8)> = conn.exec_first(TOPOLOGY, ()).await?;
    found.ok_or_else(|| SqlError::defect("the topology was not kept"))
}

/// A shard map as a line: `0-31=0 32-63=1`.
fn written(map: &ShardMap) -> String {
    let mut runs: Vec<(u8, u8, ServerIndex)> = Vec::new();
    for shard in ShardId::all() {
        let server = map.server(shard);
        match runs.last_mut() {
            Some((_, last, holder)) if *holder == server => *last = shard.number(),
            _ => runs.push((shard.number(), shard.number(), server)),
        }
    }
    let runs: Vec<_> = runs.iter().map(|(first, last, server)| format!("{first}-{last}={}", server.0)).collect();
    runs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_written_as_its_ranges() {
        assert_eq!(written(&ShardMap::single()), "0-63=0");
        assert_eq!(written(&ShardMap::from_ranges(&["32-63", "0-31"]).unwrap()), "0-31=1 32-63=0");
    }

    #[test]
    fn only_plain_names_get_into_a_statement() {
        let mut options = MysqlOptions::new(Vec::new());
        let database = Database::new("hot-article");
        assert_eq!(name_on_servers(&options, &database).unwrap(), "madang_hot_article");
        for prefix in ["a`b", "a b", "", &"x".repeat(64)] {
            options.database_prefix = prefix.to_owned();
            let name = name_on_servers(&options, &database);
            assert!(prefix.is_empty() || matches!(name, Err(OpenError::DatabaseName(_))), "{name:?}");
        }
    }
}
