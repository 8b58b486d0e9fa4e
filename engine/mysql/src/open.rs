//! Opening a database on its servers: created and migrated where needed, given the first shard map where it has none, and
//! refused where it belongs to another topology. A server that cannot be reached keeps nobody from starting; it is opened when
//! it comes.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::FutureExt;
use madang_kernel::{ServerIndex, ShardId, ShardMap, ShardMapError, ShardOwner, ShardOwners};
use madang_messaging::{Backoff, Chance, OnError, Stop, Supervisor};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use refinery::Runner;

use crate::errors::{SqlError, is_caused_by_absence};
use crate::inspect::newest;
use crate::server::{Look, Server, connect_without_database};
use crate::statement::Many;
use crate::topology::{KnownServer, Topology, number, told};
use crate::transaction::{Tx, bytes};
use crate::{Database, MysqlOptions, health};

const TAKE_LOCK: &str = include_str!("../sql/backbone/take_lock.sql");
const GIVE_LOCK: &str = include_str!("../sql/backbone/give_lock.sql");
const STORE_TOPOLOGY: &str = include_str!("../sql/backbone/store_topology.sql");
const HISTORY: &str = include_str!("../sql/inspect/history.sql");
const COUNT_MAP: &str = include_str!("../sql/shard/count.sql");
const STORE_SERVER: &str = include_str!("../sql/shard/store_server.sql");
static STORE_MAP: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/shard/store_map.sql")));
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
         configuration says \"{configured}\": keep the servers in their order and leave `shards` out of the configuration, \
         since the databases know where the shards are"
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
    /// The configuration names a server that was never added.
    #[error(
        "server {server} ({address}) is in the configuration, and {database} knows {known} servers: run `madang shards \
         add-server mysql://{address}` first"
    )]
    NotAdded {
        /// Position of the server in the configuration.
        server: usize,
        /// Where it is.
        address: String,
        /// The database.
        database: String,
        /// How many servers there are.
        known: usize,
    },
    /// The configuration lacks a server that holds shards.
    #[error(
        "{database} was set up with the shard map \"{found}\", and the configuration names {configured} servers: name them all"
    )]
    ServersMissing {
        /// The database.
        database: String,
        /// The map it was set up with.
        found: String,
        /// How many servers are configured.
        configured: usize,
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
    topology: Arc<Topology>,
    index: usize,
    server: Arc<Server>,
}

impl SetUp {
    /// A server of a topology, by its number; connects to nothing.
    pub(crate) fn new(topology: Arc<Topology>, index: usize) -> Self {
        let server = Arc::clone(&topology.placement().servers()[index]);
        Self { topology, index, server }
    }

    /// Watches the server, and sets it up where it is not.
    pub(crate) fn run_in(&self, supervisor: &Supervisor, is_there: bool) {
        let server = Arc::clone(&self.server);
        supervisor.spawn("watch a server", OnError::Restart, move |stop| {
            health::watch_server(Arc::clone(&server), stop).map(Ok::<_, Infallible>)
        });
        if !is_there {
            let set_up = self.clone();
            supervisor.spawn("set up a server", OnError::Restart, move |stop| {
                set_up.clone().once_it_is_there(stop).map(Ok::<_, Infallible>)
            });
        }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Sets the server up and lets it be used. One that cannot be reached keeps nobody from starting: false.
    pub(crate) async fn at_start(&self) -> Result<bool, OpenError> {
        match self.run().await {
            Ok(()) => Ok(true),
            Err(SetUpError::Unreachable(reason)) => {
                let (server, database) = (self.index, &self.topology.name);
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

    /// Sets the server up, or says why not.
    pub(crate) async fn at_once(&self) -> Result<(), OpenError> {
        self.run().await.map_err(|error| match error {
            SetUpError::Unreachable(reason) => OpenError::Server { server: self.index, reason },
            SetUpError::Refused(error) => error,
        })
    }

    /// Tries until the server is there and set up, or belongs to another topology, which time does not mend.
    pub(crate) async fn once_it_is_there(self, stop: Stop) {
        let (server, database) = (self.index, &self.topology.name);
        let (mut chance, mut attempts, mut logged) = (Chance::seeded(rand::random()), 0, String::new());
        loop {
            // At once the first time: one that was just added has been waited for.
            if attempts > 0 {
                let pause = Duration::from_millis(UNREACHABLE_PAUSE.delay_ms(attempts, &mut chance));
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(pause) => {}
                }
            }
            attempts += 1;
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
                    if matches!(error, OpenError::OtherTopology { .. } | OpenError::NotAdded { .. }) {
                        return;
                    }
                    logged = reason;
                }
            }
        }
    }

    /// Creates the database if it is not there, migrates it, compares its topology, and opens the server to everybody.
    async fn run(&self) -> Result<(), SetUpError> {
        let name = &self.topology.name;
        if let Look::ReadOnly(told) | Look::Nobody(told) = self.server.look(false).await {
            return Err(SetUpError::Unreachable(told));
        }
        let mut conn = self.server.connect_without_database().await.map_err(|error| self.failed(&error))?;
        // A name cannot be a parameter; this one was checked letter by letter.
        let create = format!("CREATE DATABASE IF NOT EXISTS `{name}` DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin");
        conn.query_drop(create).await.map_err(|error| self.failed(&error.into()))?;
        // Taken on a connection of its own, which gives it back even if this process dies.
        let lock = format!("madang.{name}");
        let taken: Option<Option<i64>> =
            conn.exec_first(TAKE_LOCK, (&lock, MIGRATION_WAIT_S)).await.map_err(|error| self.failed(&error.into()))?;
        if taken.flatten() != Some(1) {
            return Err(SetUpError::Unreachable("another process has been migrating for too long".to_owned()));
        }
        let done = match self.migrate(&mut conn).await {
            Ok(()) => self.adopt().await,
            Err(error) => Err(error),
        };
        let _ = conn.exec_drop(GIVE_LOCK, (&lock,)).await;
        let _ = tokio::time::timeout(Duration::from_secs(1), conn.disconnect()).await;
        // The map is known before anybody uses the server by it.
        let told = done?;
        self.server.is_primary().await.map_err(|error| self.failed(&error))?;
        let new = self.topology.learn(number(self.index), &told).map_err(SetUpError::Refused)?;
        self.server.open();
        new.into_iter().for_each(|index| self.topology.begin(index));
        Ok(())
    }

    /// Brings the database up to date, unless a newer version of the program has been there.
    async fn migrate(&self, conn: &mut Conn) -> Result<(), SetUpError> {
        let Topology { name, database, .. } = &*self.topology;
        let newer = newer(conn, name, database).await.map_err(|error| self.failed(&error))?;
        if let Some((found, known)) = newer {
            let (server, database) = (self.index, name.clone());
            return Err(SetUpError::Refused(OpenError::Newer { server, database, found, known }));
        }
        match migrate(&self.server, database).await {
            Ok(()) => Ok(()),
            Err(error) if is_caused_by_absence(&error) => Err(SetUpError::Unreachable(error.to_string())),
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// The map as this server knows it; one without a map is given one.
    async fn adopt(&self) -> Result<Vec<KnownServer>, SetUpError> {
        let mut conn = self.server.pooled_for_set_up().await.map_err(|error| self.failed(&error))?;
        let found: Option<(String, u8)> =
            conn.exec_first(TOPOLOGY, ()).await.map_err(|error| self.failed(&error.into()))?;
        let frozen = found.map(|(map, server)| self.compare(map, server)).transpose()?;
        if !has_map(&mut conn).await.map_err(|error| self.failed(&error))? {
            let owners = self.owners(frozen).await?;
            self.store(&mut conn, &owners).await.map_err(|error| self.failed(&error))?;
        }
        let told = told(&mut conn).await.map_err(|error| self.failed(&error))?;
        self.is_added(told.len())?;
        Ok(told)
    }

    /// What the database was set up as must be what the configuration says it is, where that says anything.
    fn compare(&self, found: String, found_server: u8) -> Result<String, SetUpError> {
        let Topology { options, first, .. } = &*self.topology;
        // Who was added later was given no shards.
        let was_given = options.servers.get(self.index).is_some_and(|server| !server.shards.is_empty());
        let configured = written(first);
        if usize::from(found_server) == self.index && !(was_given && found != configured) {
            return Ok(found);
        }
        let (server, database) = (self.index, self.topology.name.clone());
        Err(SetUpError::Refused(OpenError::OtherTopology { server, database, found_server, found, configured }))
    }

    /// Every server of the configuration must be one of so many.
    fn is_added(&self, known: usize) -> Result<(), SetUpError> {
        let placement = self.topology.placement();
        match placement.servers().get(known).filter(|_| known < self.topology.options.servers.len()) {
            None => Ok(()),
            Some(server) => Err(SetUpError::Refused(OpenError::NotAdded {
                server: known,
                address: server.addresses(),
                database: self.topology.name.clone(),
                known,
            })),
        }
    }

    /// The map for a server that has none: the one that others have; else the one that was frozen, here or elsewhere; else the
    /// first one. Shards are given out by even shares only while every server says that it has nothing, since one that is away
    /// may hold them all.
    async fn owners(&self, frozen: Option<String>) -> Result<ShardOwners, SetUpError> {
        if self.topology.placement().owners().version() > 0 {
            return self.owners_told();
        }
        let elsewhere = self.look_around().await;
        if self.topology.placement().owners().version() > 0 {
            return self.owners_told();
        }
        if let Some(frozen) = frozen.or(elsewhere.frozen) {
            return Ok(ShardOwners::first(&self.first_map(&frozen)?));
        }
        match elsewhere.unreachable {
            Some(reason) if !self.topology.options.names_shards() => {
                Err(SetUpError::Unreachable(format!("shards are given out once every server responds: {reason}")))
            }
            _ => Ok(ShardOwners::first(&self.topology.first)),
        }
    }

    fn owners_told(&self) -> Result<ShardOwners, SetUpError> {
        let placement = self.topology.placement();
        self.is_added(placement.added())?;
        Ok(placement.owners().clone())
    }

    /// Asks the other servers of the configuration whether they have a map, and learns it.
    async fn look_around(&self) -> Elsewhere {
        let mut elsewhere = Elsewhere { frozen: None, unreachable: None };
        for (index, server) in
            self.topology.options.servers.iter().enumerate().filter(|(index, _)| *index != self.index)
        {
            match self.look_at(index, &server.url).await {
                Ok(frozen) => elsewhere.frozen = elsewhere.frozen.or(frozen),
                Err(error) => elsewhere.unreachable = Some(format!("server {index}: {error}")),
            }
        }
        elsewhere
    }

    async fn look_at(&self, index: usize, url: &str) -> Result<Option<String>, SqlError> {
        let Topology { options, name, .. } = &*self.topology;
        let mut conn = connect_without_database(options, url).await?;
        let has_topology: Option<String> = conn.exec_first(HISTORY, (name, "topology")).await?;
        if has_topology.is_none() {
            return Ok(None);
        }
        // A name cannot be a parameter; this one was checked letter by letter.
        conn.query_drop(format!("USE `{name}`")).await?;
        let has_table: Option<String> = conn.exec_first(HISTORY, (name, "shard_map")).await?;
        if has_table.is_some() && has_map(&mut conn).await? {
            let told = told(&mut conn).await?;
            self.topology.learn(number(index), &told).map_err(SqlError::defect)?;
        }
        let found: Option<(String, u8)> = conn.exec_first(TOPOLOGY, ()).await?;
        Ok(found.map(|(map, _)| map))
    }

    /// Gives the server its copy of the map, the list of servers and its own number, as a whole.
    async fn store(&self, conn: &mut Conn, owners: &ShardOwners) -> Result<(), SqlError> {
        let mut tx = Tx::begin(conn).await?;
        tx.write(STORE_TOPOLOGY, vec![bytes(written(&self.topology.first)), self.index.into()]).await?;
        for (server, known) in self.topology.placement().servers().iter().enumerate() {
            tx.write(STORE_SERVER, vec![server.into(), bytes(known.addresses())]).await?;
        }
        let row = |shard: ShardId| {
            let ShardOwner { server, epoch, .. } = owners.of(shard);
            let writable = u8::from(server == number(self.index));
            vec![shard.number().into(), server.0.into(), epoch.into(), writable.into()]
        };
        tx.insert_many(&STORE_MAP, ShardId::all().map(row).collect()).await?;
        tx.commit().await
    }

    /// A map as it was written down; every server in it must be in the configuration.
    fn first_map(&self, written: &str) -> Result<ShardMap, SetUpError> {
        let servers = self.topology.options.servers.len();
        let missing = || OpenError::ServersMissing {
            database: self.topology.name.clone(),
            found: written.to_owned(),
            configured: servers,
        };
        read(written, servers).ok_or_else(|| SetUpError::Refused(missing()))
    }

    fn failed(&self, error: &SqlError) -> SetUpError {
        match error {
            SqlError::Unavailable(_) | SqlError::ReadOnly(_) | SqlError::Full(_) | SqlError::Conflict(_) => {
                SetUpError::Unreachable(error.to_string())
            }
            SqlError::Duplicate(_) | SqlError::NotHere(_) | SqlError::Defect(_) => self.refused(error),
        }
    }

    fn refused(&self, error: &dyn std::fmt::Display) -> SetUpError {
        SetUpError::Refused(OpenError::Server { server: self.index, reason: error.to_string() })
    }
}

/// What the other servers of the configuration say.
struct Elsewhere {
    /// A map from the time when maps were frozen.
    frozen: Option<String>,
    /// Why one of them could not be asked.
    unreachable: Option<String>,
}

/// Why a server was not set up.
enum SetUpError {
    /// It does not respond, or is busy: later it may.
    Unreachable(String),
    /// It responds, and will not do.
    Refused(OpenError),
}

pub(crate) fn name_on_servers(options: &MysqlOptions, database: &Database) -> Result<String, OpenError> {
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
    runner.run_async(&mut server.pool()).await.map(|_| ())
}

async fn has_map(conn: &mut Conn) -> Result<bool, SqlError> {
    let rows: Option<u64> = conn.query_first(COUNT_MAP).await?;
    Ok(rows.unwrap_or(0) > 0)
}

/// Reads what [`written`] wrote, where it is a map of at most so many servers.
fn read(text: &str, servers: usize) -> Option<ShardMap> {
    let mut ranges = vec![Vec::new(); servers];
    for run in text.split(' ') {
        let (range, server) = run.split_once('=')?;
        ranges.get_mut(server.parse::<usize>().ok()?)?.push(range.to_owned());
    }
    ShardMap::from_runs(&ranges).ok()
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
    fn a_map_is_read_as_it_was_written() {
        for ranges in [&["0-31", "32-63"][..], &["32-63", "0-31"], &["0-63"], &["1-63", "0"]] {
            let map = ShardMap::from_ranges(ranges).unwrap();
            assert_eq!(read(&written(&map), ranges.len()), Some(map));
        }
        assert_eq!(read("0-31=0 32-63=1", 1), None, "a server is missing");
        let more = read("0-31=0 32-63=1", 3).unwrap();
        assert_eq!(written(&more), "0-31=0 32-63=1");
        for nonsense in ["", "0-63", "0-31=0", "0-63=x"] {
            assert_eq!(read(nonsense, 2), None, "{nonsense}");
        }
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
