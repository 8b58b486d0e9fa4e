//! Servers of a cluster as people ask for them: what each one knows of the shard map, and one more server.
//!
//! A server is added to one database after another, on the new server first: it is complete before anybody learns of it. What
//! was interrupted is finished by asking for the same server again.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use madang_kernel::{ServerIndex, ShardMap, ShardOwners};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use crate::errors::SqlError;
use crate::members::addresses_of;
use crate::open::{OpenError, SetUp, name_on_servers};
use crate::server::connect_without_database;
use crate::topology::{KnownServer, Topology, number, told};
use crate::{Database, MysqlOptions};

const STORE_SERVER: &str = include_str!("../sql/shard/store_server.sql");
const HISTORY: &str = include_str!("../sql/inspect/history.sql");

/// Servers that a cluster has at most.
const SERVERS_MAX: usize = 64;

/// What one server knows of the shards of one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardCopy {
    /// Where each server is, by its number.
    pub servers: BTreeMap<u8, String>,
    /// Who holds each shard.
    pub owners: ShardOwners,
}

/// A server, and what it knows.
#[derive(Debug, Clone)]
pub struct ServerCopies {
    /// Its number.
    pub server: u8,
    /// Its host and port, or those of its members, separated by commas.
    pub address: String,
    /// What it knows of each database, in the order asked; `None` where there is no such map yet. Or why it could not be asked.
    pub copies: Result<Vec<Option<ShardCopy>>, String>,
}

/// Why a server was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddServerError {
    /// A server must be told of the new one, and does not answer.
    #[error("server {server} ({address}) cannot be asked, and every server must learn of the new one: {reason}")]
    Unreachable {
        /// Its number.
        server: u8,
        /// Where it is.
        address: String,
        /// What came instead of an answer.
        reason: String,
    },
    /// No start has made the databases yet.
    #[error("{database} does not exist yet: start the cluster once, then add servers")]
    NoMap {
        /// The database.
        database: String,
    },
    /// Another addition was interrupted.
    #[error("the addition of {address} was not finished: run `madang shards add-server` with that address first")]
    Unfinished {
        /// The server that is half there.
        address: String,
    },
    /// It holds databases of these names already.
    #[error(
        "{database} exists on {address} and does not belong to this addition (it {is}): empty the server, or use another \
         cluster.name"
    )]
    HoldsData {
        /// The database.
        database: String,
        /// The new server.
        address: String,
        /// What it is.
        is: String,
    },
    /// There are as many as there can be.
    #[error("there are {SERVERS_MAX} servers, and a shard cannot be divided")]
    TooMany,
    /// The new server cannot be set up.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A statement failed.
    #[error("a server refused a statement")]
    Sql(#[from] SqlError),
}

/// Asks every server, those that were added later included, what it knows of the shards of these databases.
pub async fn shard_copies(options: &MysqlOptions, databases: &[Database]) -> Vec<ServerCopies> {
    let configured = options.servers.iter().map(|server| (addresses_of(&server.url), server.url.clone()));
    let mut servers: BTreeMap<u8, (String, String)> = (0..).zip(configured).collect();
    let mut asked: BTreeMap<u8, ServerCopies> = BTreeMap::new();
    while asked.len() < servers.len() {
        let new: Vec<(u8, String, String)> = servers
            .iter()
            .filter(|(server, _)| !asked.contains_key(*server))
            .map(|(server, (address, url))| (*server, address.clone(), url.clone()))
            .collect();
        let answers = new.into_iter().map(|(server, address, url)| async move {
            let copies = copies_on(options, &url, number(usize::from(server)), databases).await;
            ServerCopies { server, address, copies: copies.map_err(|error| error.to_string()) }
        });
        for answer in join_all(answers).await {
            for copy in answer.copies.iter().flatten().flatten() {
                for (server, address) in &copy.servers {
                    servers.entry(*server).or_insert_with(|| (address.clone(), options.url_of(*server, address)));
                }
            }
            asked.insert(answer.server, answer);
        }
    }
    asked.into_values().collect()
}

/// Adds a server without shards to every database. Returns its number. Doing it again finishes what was interrupted, and
/// changes nothing where nothing was.
pub async fn add_server(options: &MysqlOptions, databases: &[Database], address: &str) -> Result<u8, AddServerError> {
    let known = shard_copies(options, databases).await;
    let servers = agreed(options, databases, &known, address)?;
    let found = servers.iter().find(|(_, known)| *known == address).map(|(server, _)| *server);
    let server = found.unwrap_or(u8::try_from(servers.len()).unwrap_or(u8::MAX));
    if usize::from(server) >= SERVERS_MAX {
        return Err(AddServerError::TooMany);
    }
    let mut conn = connect_without_database(options, &options.url_of(server, address)).await?;
    for database in databases {
        is_free(&mut conn, options, database, server, address).await?;
    }
    let (number, address) = (ServerIndex(server), address.to_owned());
    let new = KnownServer { server: number, address, shards: Vec::new(), is_moving: false };
    for (index, database) in databases.iter().enumerate() {
        add_to(options, database, index, &known, &new).await?;
    }
    Ok(server)
}

/// The servers that all databases know, where every server could be asked; one that only some know must be the new one.
fn agreed(
    options: &MysqlOptions,
    databases: &[Database],
    known: &[ServerCopies],
    address: &str,
) -> Result<BTreeMap<u8, String>, AddServerError> {
    let mut all: BTreeMap<u8, String> = BTreeMap::new();
    let mut everywhere: Option<BTreeMap<u8, String>> = None;
    for told in known {
        let copies = match &told.copies {
            Ok(copies) => copies,
            // Half added, and away: it is the one that is asked for, or stands in the way below.
            Err(_) if told.address == address => continue,
            Err(reason) => {
                let (server, address, reason) = (told.server, told.address.clone(), reason.clone());
                return Err(AddServerError::Unreachable { server, address, reason });
            }
        };
        for (copy, database) in copies.iter().zip(databases) {
            let Some(copy) = copy else {
                if told.address == address {
                    continue;
                }
                return Err(AddServerError::NoMap { database: database.under(&options.database_prefix) });
            };
            all.extend(copy.servers.clone());
            let shared = everywhere.get_or_insert_with(|| copy.servers.clone());
            shared.retain(|server, _| copy.servers.contains_key(server));
        }
    }
    let everywhere = everywhere.unwrap_or_default();
    let half = all.iter().find(|(server, known)| !everywhere.contains_key(*server) && *known != address);
    match half {
        Some((_, address)) => Err(AddServerError::Unfinished { address: address.clone() }),
        None => Ok(all),
    }
}

/// A database of this name on the new server must be one that this addition made.
async fn is_free(
    conn: &mut Conn,
    options: &MysqlOptions,
    database: &Database,
    server: u8,
    address: &str,
) -> Result<(), AddServerError> {
    let name = name_on_servers(options, database)?;
    let holds = |is: String| AddServerError::HoldsData { database: name.clone(), address: address.to_owned(), is };
    let has_topology: Option<String> = conn.exec_first(HISTORY, (&name, "topology")).await.map_err(SqlError::from)?;
    if has_topology.is_none() {
        return Ok(());
    }
    // Names cannot be parameters; this one was checked letter by letter.
    let told: Option<u8> =
        conn.query_first(format!("SELECT server FROM `{name}`.topology")).await.map_err(SqlError::from)?;
    match told {
        Some(told) if told != server => Err(holds(format!("is server {told} of a cluster"))),
        _ => Ok(()),
    }
}

async fn add_to(
    options: &MysqlOptions,
    database: &Database,
    index: usize,
    known: &[ServerCopies],
    new: &KnownServer,
) -> Result<(), AddServerError> {
    let topology = Topology::configured(options, database)?;
    let others: Vec<&ServerCopies> = known.iter().filter(|told| told.server != new.server.0).collect();
    for told in &others {
        if let Some(Some(copy)) = told.copies.as_ref().ok().and_then(|copies| copies.get(index)) {
            topology.learn(ServerIndex(told.server), &copy.as_told())?;
        }
    }
    topology.learn(new.server, std::slice::from_ref(new))?;
    // Complete before anybody learns of it.
    SetUp::new(Arc::clone(&topology), usize::from(new.server.0)).at_once().await?;
    for told in others {
        let mut conn = connect_without_database(options, &options.url_of(told.server, &told.address)).await?;
        conn.query_drop(format!("USE `{}`", topology.name)).await.map_err(SqlError::from)?;
        let row = (new.server.0, new.address.as_str());
        conn.exec_drop(STORE_SERVER, row).await.map_err(SqlError::from)?;
    }
    Ok(())
}

impl ShardCopy {
    fn as_told(&self) -> Vec<KnownServer> {
        let known = self.servers.iter().map(|(server, address)| {
            let server = ServerIndex(*server);
            let shards = self.owners.shards_of(server).map(|shard| (shard, self.owners.of(shard))).collect();
            KnownServer { server, address: address.clone(), shards, is_moving: false }
        });
        known.collect()
    }
}

async fn copies_on(
    options: &MysqlOptions,
    url: &str,
    server: ServerIndex,
    databases: &[Database],
) -> Result<Vec<Option<ShardCopy>>, SqlError> {
    let mut conn = connect_without_database(options, url).await?;
    let mut copies = Vec::new();
    for database in databases {
        let name = name_on_servers(options, database).map_err(SqlError::defect)?;
        let there: Option<String> = conn.exec_first(HISTORY, (&name, "shard_map")).await?;
        if there.is_none() {
            copies.push(None);
            continue;
        }
        // Names cannot be parameters; this one was checked letter by letter.
        conn.query_drop(format!("USE `{name}`")).await?;
        copies.push(copy(server, &told(&mut conn).await?));
    }
    Ok(copies)
}

fn copy(told_by: ServerIndex, told: &[KnownServer]) -> Option<ShardCopy> {
    let shards = || told.iter().flat_map(|known| known.shards.iter());
    let mut owners = ShardOwners::assumed(&ShardMap::single());
    shards().for_each(|(shard, owner)| owners.learn(told_by, *shard, *owner));
    let servers = told.iter().map(|known| (known.server.0, known.address.clone())).collect();
    (shards().count() > 0).then_some(ShardCopy { servers, owners })
}
