//! Which server holds which shard, as this process knows it: told by the servers, merged by epoch, and read again and again, so
//! that a change reaches every process without a restart. Nobody relies on it being fresh: a write by an old map is refused by
//! the database ([`Tx::holds`]), and the map is read again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use madang_kernel::{ServerIndex, ShardId, ShardMap, ShardOwner, ShardOwners};
use madang_messaging::Stop;
use mysql_async::Row;
use mysql_async::prelude::Queryable;
use tokio::time::{Instant, sleep, timeout};

use crate::databases::Tasks;
use crate::errors::SqlError;
use crate::map_read::MapRead;
use crate::open::{OpenError, SetUp};
use crate::server::Server;
use crate::transaction::{Cells, Tx};
use crate::{Database, MysqlOptions};

const KNOWN: &str = include_str!("../sql/shard/known.sql");
const FOLLOWED: &str = include_str!("../sql/shard/followed.sql");

/// How often the map is read, from one server after another: with one that is away a change is known within a second.
pub(crate) const READ_EVERY: Duration = Duration::from_millis(400);
/// The same while a shard is on its way: its new owner takes writes once every process can have read of it.
pub(crate) const READ_EVERY_MOVING: Duration = Duration::from_millis(100);
/// How long one server may take to tell its map.
const READ_MAX: Duration = Duration::from_secs(1);
/// How long a write waits for a shard that takes none, before it is refused.
const FENCED_MAX: Duration = Duration::from_secs(2);
/// Between two looks meanwhile.
const FENCED_LOOK: Duration = Duration::from_millis(50);

/// Where everything is, at one moment.
pub struct Placement {
    owners: ShardOwners,
    servers: Vec<Arc<Server>>,
    /// How many of them some server has told of; the others are the configuration's alone.
    added: usize,
}

impl Placement {
    /// The server that holds a shard.
    pub fn server(&self, shard: ShardId) -> ServerIndex {
        self.owners.of(shard).server
    }

    /// The owner of every shard.
    pub fn owners(&self) -> &ShardOwners {
        &self.owners
    }

    /// The servers, by their numbers.
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// The servers that hold shards, each with those that it holds.
    pub fn holders(&self) -> Vec<(Arc<Server>, Vec<ShardId>)> {
        let with_shards = (0..).zip(&self.servers).map(|(number, server)| {
            let shards: Vec<ShardId> = self.owners.shards_of(ServerIndex(number)).collect();
            (Arc::clone(server), shards)
        });
        with_shards.filter(|(_, shards)| !shards.is_empty()).collect()
    }

    pub(crate) fn added(&self) -> usize {
        self.added
    }

    pub(crate) fn server_of(&self, shard: ShardId) -> &Arc<Server> {
        // What is learned names servers that are known.
        &self.servers[usize::from(self.server(shard).0)]
    }
}

/// A server as another one knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownServer {
    pub(crate) server: ServerIndex,
    pub(crate) address: String,
    /// The shards that it holds.
    pub(crate) shards: Vec<(ShardId, ShardOwner)>,
    /// Whether one of them is on its way to another server, or from one.
    pub(crate) is_moving: bool,
}

/// What this process knows of the servers of one database. Shared with its tasks, which must not hold the database itself.
pub(crate) struct Topology {
    pub(crate) options: MysqlOptions,
    pub(crate) database: Database,
    /// What the database is called on its servers.
    pub(crate) name: String,
    /// The map that a cluster begins with.
    pub(crate) first: ShardMap,
    placement: RwLock<Arc<Placement>>,
    /// When the last reading of all servers began.
    reading: tokio::sync::Mutex<Option<Instant>>,
    tasks: OnceLock<Weak<Tasks>>,
    map_read: Arc<MapRead>,
    /// Whether a shard is on its way, as a server said last.
    is_moving: AtomicBool,
}

impl Topology {
    /// The servers of the configuration with the map that a new cluster would have; connects to nothing.
    pub(crate) fn configured(options: &MysqlOptions, database: &Database) -> Result<Arc<Self>, OpenError> {
        let (first, name) = (options.shard_map()?, crate::open::name_on_servers(options, database)?);
        let mut servers = Vec::new();
        let map_read = Arc::new(MapRead::now());
        for (index, server) in options.servers.iter().enumerate() {
            servers.push(described(options, &server.url, &name, index, &map_read)?);
        }
        let placement = RwLock::new(Arc::new(Placement { owners: ShardOwners::assumed(&first), servers, added: 0 }));
        let (options, database, reading) = (options.clone(), database.clone(), tokio::sync::Mutex::default());
        let is_moving = AtomicBool::new(false);
        Ok(Arc::new(Self {
            options,
            database,
            name,
            first,
            placement,
            reading,
            tasks: OnceLock::new(),
            map_read,
            is_moving,
        }))
    }

    /// Where everything is now.
    pub(crate) fn placement(&self) -> Arc<Placement> {
        Arc::clone(&self.placement.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Servers that come from now on are watched and set up by these tasks.
    pub(crate) fn runs_in(&self, tasks: Weak<Tasks>) {
        // Set once, when the database is opened.
        let _ = self.tasks.set(tasks);
    }

    /// Takes in what a server told. Returns the servers that were not known before, by their numbers.
    pub(crate) fn learn(&self, told_by: ServerIndex, told: &[KnownServer]) -> Result<Vec<usize>, OpenError> {
        let mut placement = self.placement.write().unwrap_or_else(PoisonError::into_inner);
        let (mut owners, mut servers) = (placement.owners.clone(), placement.servers.clone());
        let mut added = placement.added;
        let mut new = Vec::new();
        for known in told {
            let index = usize::from(known.server.0);
            if index == servers.len() {
                servers.push(described(
                    &self.options,
                    &self.options.url_of(known.server.0, &known.address),
                    &self.name,
                    index,
                    &self.map_read,
                )?);
                new.push(index);
            }
            // A number after a gap is learned with what fills it.
            if index < servers.len() {
                added = added.max(index + 1);
                known.shards.iter().for_each(|(shard, owner)| owners.learn(told_by, *shard, *owner));
            }
        }
        if owners != placement.owners || added != placement.added {
            let (before, after) = (placement.owners.version(), owners.version());
            if before > 0 && before != after {
                tracing::info!(database = self.name, "shard map {after} of {} is in force", self.name);
            }
            *placement = Arc::new(Placement { owners, servers, added });
        }
        Ok(new)
    }

    /// Asks every server that is open for its map.
    pub(crate) async fn read_all(self: &Arc<Self>) {
        let asked = Instant::now();
        let mut last = self.reading.lock().await;
        // One reading serves all who asked before it began.
        if last.is_some_and(|began| began >= asked) {
            return;
        }
        *last = Some(Instant::now());
        let placement = self.placement();
        join_all((0..placement.servers.len()).map(|index| self.read_from(&placement, index))).await;
    }

    /// Reads the map again and again until `stop`.
    pub(crate) async fn follow(self: Arc<Self>, stop: Stop) {
        let mut turn = 0_usize;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(self.read_every()) => {}
            }
            let placement = self.placement();
            turn = turn.wrapping_add(1);
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.read_from(&placement, turn % placement.servers.len()) => {}
            }
        }
    }

    fn read_every(&self) -> Duration {
        if self.is_moving.load(Ordering::Relaxed) { READ_EVERY_MOVING } else { READ_EVERY }
    }

    /// Waits until somebody takes writes for a shard that `refused_by` took none for. False when it takes too long.
    pub(crate) async fn is_writable_again(self: &Arc<Self>, shard: ShardId, refused_by: &Arc<Server>) -> bool {
        let deadline = Instant::now() + FENCED_MAX;
        loop {
            self.read_all().await;
            let placement = self.placement();
            if placement.owners.of(shard).writable || !Arc::ptr_eq(placement.server_of(shard), refused_by) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            sleep(FENCED_LOOK).await;
        }
    }

    /// A server that is away tells nothing, and what was known stays.
    async fn read_from(self: &Arc<Self>, placement: &Placement, index: usize) {
        let server = &placement.servers[index];
        let told = async {
            let mut conn = server.pooled_for_map().await?;
            read_map(&mut conn, FOLLOWED).await
        };
        let asked = std::time::Instant::now();
        let (told, is_read_only) = match timeout(READ_MAX, server.health().guard(told)).await {
            Ok(Ok(told)) => told,
            Ok(Err(error)) => return tracing::debug!("{} did not tell its shard map: {error}", server.name()),
            Err(_) => return tracing::debug!("{} did not tell its shard map in time", server.name()),
        };
        self.is_moving.store(told.iter().any(|known| known.is_moving), Ordering::Relaxed);
        self.map_read.note(asked);
        if is_read_only {
            server.health().note_read_only();
        }
        match self.learn(number(index), &told) {
            Ok(new) => new.into_iter().for_each(|index| self.begin(index)),
            Err(error) => tracing::error!("a server that was added cannot be used: {error}"),
        }
    }

    /// Watches a server that was just learned of, and sets it up.
    pub(crate) fn begin(self: &Arc<Self>, index: usize) {
        let Some(tasks) = self.tasks.get().and_then(Weak::upgrade) else { return };
        let set_up = SetUp::new(Arc::clone(self), index);
        tracing::info!("database server {index} was added: {}", set_up.server().name());
        tasks.with(|supervisor| set_up.run_in(supervisor, false));
    }
}

impl Tx<'_> {
    /// Makes sure, until COMMIT, that this server takes writes for these shards: whoever moves one waits for this transaction,
    /// or this one is refused.
    pub async fn holds(&mut self, shards: &[ShardId]) -> Result<(), SqlError> {
        let held = self.held(shards).await?;
        let missing: Vec<ShardId> = shards.iter().filter(|shard| !held.contains(shard)).copied().collect();
        if missing.is_empty() { Ok(()) } else { Err(SqlError::NotHere(missing)) }
    }
}

/// The map as the server of a connection knows it, whether or not its tables are up to date.
pub(crate) async fn told(conn: &mut mysql_async::Conn) -> Result<Vec<KnownServer>, SqlError> {
    Ok(read_map(conn, KNOWN).await?.0)
}

/// The map, and whether the server that told it is read-only.
async fn read_map(conn: &mut mysql_async::Conn, sql: &'static str) -> Result<(Vec<KnownServer>, bool), SqlError> {
    // As text: a prepared statement stays with the database that the connection had when it was prepared.
    let rows: Vec<Row> = conn.query(sql).await?;
    let mut told: BTreeMap<ServerIndex, KnownServer> = BTreeMap::new();
    let mut is_read_only = false;
    for row in rows {
        let mut cells = Cells::new(row);
        let (server, address) = (ServerIndex(cells.next()?), cells.next()?);
        let unknown = || KnownServer { server, address, shards: Vec::new(), is_moving: false };
        let known = told.entry(server).or_insert_with(unknown);
        let Some(number) = cells.next::<Option<u8>>()? else { continue };
        let shard = ShardId::new(number).ok_or_else(|| SqlError::defect(format!("there is no shard {number}")))?;
        let owner = ShardOwner { server, epoch: cells.next()?, writable: cells.next::<u8>()? == 1 };
        if sql == FOLLOWED {
            known.is_moving |= cells.next::<u8>()? == 1;
            is_read_only |= cells.next::<u8>()? == 1;
        }
        known.shards.push((shard, owner));
    }
    Ok((told.into_values().collect(), is_read_only))
}

/// A place in the configuration as a number; there are at most 64.
pub(crate) fn number(index: usize) -> ServerIndex {
    ServerIndex(u8::try_from(index).unwrap_or(u8::MAX))
}

fn described(
    options: &MysqlOptions,
    url: &str,
    name: &str,
    index: usize,
    map_read: &Arc<MapRead>,
) -> Result<Arc<Server>, OpenError> {
    let server = Server::new(options, url, name, Arc::clone(map_read));
    server.map(Arc::new).map_err(|error| OpenError::Url { server: index, reason: error.to_string() })
}
