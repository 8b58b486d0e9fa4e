//! What an operator says about the servers: where they are, which shards each holds, and how much of them we may use.

use std::fmt;
use std::path::PathBuf;

use madang_kernel::{ShardMap, ShardMapError};

/// One physical server.
#[derive(Clone)]
pub struct ServerOptions {
    /// `mysql://user:password@host:port`, without a database. Where replicas can take its place, the hosts of all of them,
    /// separated by commas: the one that takes writes is used.
    pub url: String,
    /// The shards it holds when the databases are made, as `"0-31"`; empty for none. Where no server has any, all get about as
    /// many. Later the databases themselves tell which server holds which shard.
    pub shards: String,
}

/// Without the password: what is logged must not open a database.
impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.rsplit('@').next().unwrap_or_default();
        f.debug_struct("ServerOptions").field("host", &host).field("shards", &self.shards).finish()
    }
}

/// How the databases of a program use the servers.
#[derive(Debug, Clone)]
pub struct MysqlOptions {
    /// The servers, in an order that never changes.
    pub servers: Vec<ServerOptions>,
    /// Databases are called `<prefix>_<name>`.
    pub database_prefix: String,
    /// Connections that one process holds to one server for one database, lanes included.
    pub connections_max: usize,
    /// Transactions that one process has under way on one server for one database.
    pub lanes: usize,
    /// Calls folded into one transaction at most; 1 folds nothing, which is what folding is compared with.
    pub batch_calls_max: usize,
    /// How long a transaction waits for a lock, in seconds: a held lock stalls its lane.
    pub lock_wait_s: u32,
    /// Which clock tells the age of rows, leases and instances.
    pub ages_by: AgesBy,
    /// How connections are encrypted; `None` sends everything in the clear. Needs the feature `mysql-tls`.
    pub tls: Option<TlsOptions>,
}

/// What is trusted, and as whom we come.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// The authority that signs the servers' certificates, as PEM; without it those that everybody trusts.
    pub ca_file: Option<PathBuf>,
    /// A certificate to show to the servers, as PEM.
    pub client_cert_file: Option<PathBuf>,
    /// Its key, as PEM.
    pub client_key_file: Option<PathBuf>,
    /// The name that the servers' certificates carry, where it is not the one in their URLs.
    pub server_name: Option<String>,
}

/// Which clock tells ages that several processes must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgesBy {
    /// The database's: one wrong host clock harms nobody else.
    #[default]
    Server,
    /// The clock that the store is opened with, so that a test can set it.
    Clock,
}

/// Connections to one server for one database, unless configured.
const CONNECTIONS_MAX: usize = 12;
/// Lanes on one server for one database, unless configured. One folds best, and a second goes on while it waits for a lock.
const LANES: usize = 2;
/// Calls in one transaction, unless configured.
const BATCH_CALLS_MAX: usize = 256;
/// Seconds to wait for a lock, unless configured.
const LOCK_WAIT_S: u32 = 2;

impl MysqlOptions {
    /// Servers with everything else as usual.
    pub fn new(servers: Vec<ServerOptions>) -> Self {
        Self {
            servers,
            database_prefix: "madang".to_owned(),
            connections_max: CONNECTIONS_MAX,
            lanes: LANES,
            batch_calls_max: BATCH_CALLS_MAX,
            lock_wait_s: LOCK_WAIT_S,
            ages_by: AgesBy::default(),
            tls: None,
        }
    }

    /// Which server holds which shard when the databases are made.
    pub fn shard_map(&self) -> Result<ShardMap, ShardMapError> {
        if !self.names_shards() {
            return ShardMap::even(self.servers.len());
        }
        let ranges: Vec<_> = self.servers.iter().map(|server| server.shards.as_str()).collect();
        ShardMap::from_ranges(&ranges)
    }

    /// Whether shards are given to any server.
    pub(crate) fn names_shards(&self) -> bool {
        self.servers.iter().any(|server| !server.shards.is_empty())
    }

    /// The URL of a server: the configuration's where it names it, else the first one's at the address that servers know.
    pub(crate) fn url_of(&self, server: u8, address: &str) -> String {
        self.servers.get(usize::from(server)).map_or_else(|| self.url_at(address), |server| server.url.clone())
    }

    /// The URL of a server that the configuration does not name: as the first one's, but for host and port.
    fn url_at(&self, address: &str) -> String {
        let url = self.servers.first().map_or("", |server| server.url.as_str());
        let (scheme, rest) = url.split_once("://").unwrap_or(("mysql", url));
        let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(authority_end);
        let user = authority.rsplit_once('@').map_or(String::new(), |(user, _)| format!("{user}@"));
        format!("{scheme}://{user}{address}{tail}")
    }

    /// Lanes, at least one.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.max(1)
    }

    /// Connections left for reads and messaging once the lanes have theirs, at least two.
    pub(crate) fn pooled_connections(&self) -> usize {
        self.connections_max.saturating_sub(self.lanes()).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_was_added_is_reached_as_the_first_one_is() {
        let at = |url: &str| {
            MysqlOptions::new(vec![ServerOptions { url: url.into(), shards: String::new() }]).url_at("new:3307")
        };
        assert_eq!(at("mysql://me:a%40b@db:3306"), "mysql://me:a%40b@new:3307");
        assert_eq!(at("mysql://me:pw@db:3306/?tcp_nodelay=true"), "mysql://me:pw@new:3307/?tcp_nodelay=true");
        assert_eq!(at("mysql://db:3306"), "mysql://new:3307");
    }

    #[test]
    fn passwords_are_not_shown() {
        let server = ServerOptions { url: "mysql://me:s3cret@db:3306".into(), shards: "0-63".into() };
        let shown = format!("{:?}", MysqlOptions::new(vec![server]));
        assert!(shown.contains("db:3306") && !shown.contains("s3cret"), "{shown}");
    }
}
