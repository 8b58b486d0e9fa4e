//! Opening a service's databases: created and migrated where needed, and refused when they belong to another topology.

use std::time::Duration;

use madang_kernel::{ServerIndex, ShardId, ShardMap, ShardMapError};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use refinery::Runner;

use crate::errors::SqlError;
use crate::server::{Server, connect_without_database};
use crate::{MysqlOptions, Service};

const TAKE_LOCK: &str = include_str!("../sql/backbone/take_lock.sql");
const GIVE_LOCK: &str = include_str!("../sql/backbone/give_lock.sql");
const STORE_TOPOLOGY: &str = include_str!("../sql/backbone/store_topology.sql");
const TOPOLOGY: &str = include_str!("../sql/backbone/topology.sql");

/// How long a start waits while another process migrates the same database.
const MIGRATION_WAIT_S: u64 = 60;
/// Databases whose name is longer are refused by the server.
const DATABASE_NAME_MAX: usize = 64;

mod backbone {
    refinery::embed_migrations!("migrations/backbone");
}
mod member {
    refinery::embed_migrations!("migrations/member");
}
mod article {
    refinery::embed_migrations!("migrations/article");
}
mod like {
    refinery::embed_migrations!("migrations/like");
}
mod view {
    refinery::embed_migrations!("migrations/view");
}

/// Why a service's databases could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The servers' shards do not make a map.
    #[error(transparent)]
    ShardMap(#[from] ShardMapError),
    /// A name that no database may have, and that must not get into a statement.
    #[error("\"{0}\" cannot be the name of a database: letters, digits and \"_\", at most 64 of them")]
    DatabaseName(String),
    /// A server's address cannot be understood.
    #[error("server {server}: {reason}")]
    Url {
        /// Position of the server in the configuration.
        server: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The database was set up for another topology.
    #[error(
        "{database} on server {server} was set up as server {found_server} of the shard map \"{found}\", and the \
         configuration says \"{configured}\": put the old map back, or move the shards first"
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
    /// A server does not answer, or refuses.
    #[error("server {server}: {reason}")]
    Server {
        /// Position of the server in the configuration.
        server: usize,
        /// What it said.
        reason: String,
    },
}

/// Creates the database if it is not there, migrates it, and compares its topology.
pub(crate) async fn set_up(
    options: &MysqlOptions,
    service: Service,
    map: &ShardMap,
    index: usize,
) -> Result<Server, OpenError> {
    let failed = |error: &dyn std::fmt::Display| OpenError::Server { server: index, reason: error.to_string() };
    let database = database_name(options, service)?;
    let url = &options.servers[index].url;
    let server = Server::new(options, url, &database)
        .map_err(|error| OpenError::Url { server: index, reason: error.to_string() })?;
    let mut conn = connect_without_database(options, url).await.map_err(|error| failed(&error))?;
    // A name cannot be a parameter; this one was checked letter by letter.
    let create = format!("CREATE DATABASE IF NOT EXISTS `{database}` DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin");
    conn.query_drop(create).await.map_err(|error| failed(&error))?;
    // Taken on a connection of its own, which gives it back even if this process dies.
    let lock = format!("madang.{database}");
    let taken: Option<Option<i64>> =
        conn.exec_first(TAKE_LOCK, (&lock, MIGRATION_WAIT_S)).await.map_err(|error| failed(&error))?;
    if taken.flatten() != Some(1) {
        return Err(failed(&"another process has been migrating for too long"));
    }
    let migrated = migrate(&server, service).await;
    let compared = match migrated {
        Ok(()) => compare(&server, map, index, &database).await,
        Err(error) => Err(failed(&error)),
    };
    let _ = conn.exec_drop(GIVE_LOCK, (&lock,)).await;
    let _ = tokio::time::timeout(Duration::from_secs(1), conn.disconnect()).await;
    compared.map(|()| server)
}

fn database_name(options: &MysqlOptions, service: Service) -> Result<String, OpenError> {
    let name = service.database(&options.database_prefix);
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && name.len() <= DATABASE_NAME_MAX { Ok(name) } else { Err(OpenError::DatabaseName(name)) }
}

async fn migrate(server: &Server, service: Service) -> Result<(), refinery::Error> {
    let own = match service {
        Service::Member => member::migrations::runner(),
        Service::Article => article::migrations::runner(),
        Service::Like => like::migrations::runner(),
        Service::View => view::migrations::runner(),
    };
    run(backbone::migrations::runner(), "schema_backbone", server).await?;
    run(own, "schema_history", server).await
}

async fn run(mut runner: Runner, table: &str, server: &Server) -> Result<(), refinery::Error> {
    runner.set_migration_table_name(table);
    runner.run_async(&mut server.pool().clone()).await.map(|_| ())
}

/// The first start writes the topology down; every later one must have the same.
async fn compare(server: &Server, map: &ShardMap, index: usize, database: &str) -> Result<(), OpenError> {
    let failed = |error: SqlError| OpenError::Server { server: index, reason: error.to_string() };
    let configured = written(map);
    let mut conn = server.pooled().await.map_err(failed)?;
    let (found, found_server) = stored(&mut conn, &configured, index).await.map_err(failed)?;
    if found == configured && usize::from(found_server) == index {
        return Ok(());
    }
    Err(OpenError::OtherTopology { server: index, database: database.to_owned(), found_server, found, configured })
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
        assert_eq!(database_name(&options, Service::Like).unwrap(), "madang_like");
        for prefix in ["a`b", "a b", "", &"x".repeat(64)] {
            options.database_prefix = prefix.to_owned();
            let name = database_name(&options, Service::Like);
            assert!(prefix.is_empty() || matches!(name, Err(OpenError::DatabaseName(_))), "{name:?}");
        }
    }
}
