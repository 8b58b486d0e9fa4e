//! The section `[cluster]`: where the servers are, what is shared with the other processes, and where those are. Without
//! the section a site is embedded: one process, one data directory.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::settings::{in_words, out_of_range};
use crate::config::roles::{Role, Roles};

/// The shortest secret that keys may be derived from, in bytes.
pub(crate) const SECRET_BYTES_MIN: usize = 32;
/// The longest name of a cluster; databases, topics and keys start with it.
const NAME_CHARS_MAX: usize = 32;
/// The numbers of the section with their ranges.
const RANGES: [(&str, RangeInclusive<u64>); 10] = [
    ("cluster.token_generation", 0..=u32::MAX as u64),
    ("cluster.node_lease_ms", 5_000..=3_600_000),
    ("cluster.clock_skew_max_ms", 100..=60_000),
    ("cluster.mysql_connections_max", 6..=1_000),
    ("cluster.near_cache_mb", 1..=100_000),
    ("cluster.internal.connections_max", 16..=100_000),
    ("cluster.redis.response_timeout_ms", 10..=60_000),
    ("cluster.redis.own_write_wait_ms", 1..=5_000),
    ("cluster.kafka.partitions", 1..=10_000),
    ("cluster.kafka.replication", 1..=100),
];
/// What is shown in place of a secret.
pub(super) const HIDDEN: &str = "(hidden)";

/// Where the servers are, and the other processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterSettings {
    /// What the names of databases, Redis keys and Kafka topics start with.
    #[serde(default = "default_name")]
    pub name: String,
    /// What every key of the site is derived from; the same in all processes. Or see `secret_file`.
    #[serde(default, skip_serializing_if = "Secret::is_empty")]
    pub secret: Secret,
    /// The file that holds the secret, for its owner only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// Which key of the secret signs tokens; those of the number before and after are good too. One more signs with a new key.
    #[serde(default)]
    pub token_generation: u32,
    /// What keys that were derived from the secret alone are still good for, while a cluster rolls over from them.
    #[serde(default)]
    pub nameless_keys: NamelessKeys,
    /// How long a node number is leased: a database that is away for less stops no id.
    #[serde(default = "default_node_lease_ms")]
    pub node_lease_ms: u64,
    /// How far the clock of this host may be from those of the databases before this process is not ready.
    #[serde(default = "default_clock_skew_max_ms")]
    pub clock_skew_max_ms: u64,
    /// Connections that this process holds at most to one relational server for one service.
    #[serde(default = "default_mysql_connections_max")]
    pub mysql_connections_max: usize,
    /// Memory of the near cache of this process, in megabytes.
    #[serde(default = "default_near_cache_mb")]
    pub near_cache_mb: u64,
    /// The relational servers, in an order that never changes; those that were added later need not be named.
    pub mysql: Vec<MysqlSettings>,
    /// How connections to them are encrypted; in the clear when absent. Needs a build with the feature `mysql-tls`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mysql_tls: Option<MysqlTlsSettings>,
    /// Redis.
    pub redis: RedisSettings,
    /// Kafka.
    pub kafka: KafkaSettings,
    /// Where other processes reach this one.
    #[serde(default)]
    pub internal: InternalSettings,
    /// Where processes with the roles that this one has not are reached, by role.
    #[serde(default)]
    pub peers: BTreeMap<String, Vec<String>>,
}

/// Keys derived from the secret without the name, as they were before: on two sites with one secret they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NamelessKeys {
    /// Nothing.
    #[default]
    Refuse,
    /// Tokens signed and calls made with them are good.
    Accept,
    /// The same, and this process signs and calls with them: for as long as others know no other.
    Use,
}

/// One relational server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MysqlSettings {
    /// `mysql://user:password@host:port`; with replicas that can take its place `mysql://user:password@host:port,host:port`.
    pub url: ServerUrl,
    /// The logical shards on it when the databases are made, as a range such as `0-31`. Where no server has any, all get about
    /// as many. Later the databases know which server holds which shard (`madang shards list`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<String>,
}

/// What is trusted of relational servers, and as whom this process comes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MysqlTlsSettings {
    /// The authority that signs their certificates, as PEM; without it those that everybody trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// A certificate to show to them, as PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cert_file: Option<PathBuf>,
    /// Its key, as PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_key_file: Option<PathBuf>,
    /// The name that their certificates carry, where it is not the one in their addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// How Redis is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedisSettings {
    /// `single` or `cluster`.
    #[serde(default)]
    pub mode: RedisMode,
    /// One server, or nodes of a Redis Cluster to ask first.
    pub urls: Vec<ServerUrl>,
    /// How long a call waits for its answer; what takes longer counts as away.
    #[serde(default = "default_response_timeout_ms")]
    pub response_timeout_ms: u64,
    /// How long a write waits for the query model to show it; past that the log brings it.
    #[serde(default = "default_own_write_wait_ms")]
    pub own_write_wait_ms: u64,
}

/// One server, or a Redis Cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RedisMode {
    /// One server.
    #[default]
    Single,
    /// A Redis Cluster.
    Cluster,
}

/// How Kafka is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KafkaSettings {
    /// Brokers to ask first, as `host:port`.
    pub bootstrap: Vec<String>,
    /// Partitions of every topic; cannot be changed later.
    #[serde(default = "default_partitions")]
    pub partitions: u32,
    /// Copies of every partition; where it is not said, 3 with three brokers or more, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication: Option<u16>,
    /// librdkafka's own settings that start with `security.`, `ssl.` or `sasl.`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub security: BTreeMap<String, Secret>,
}

/// The internal listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InternalSettings {
    /// Where it listens; nothing when empty, which is enough where one process has all roles.
    #[serde(default)]
    pub listen: String,
    /// Connections that are open there at most, whoever opened them.
    #[serde(default = "default_internal_connections_max")]
    pub connections_max: usize,
}

impl Default for InternalSettings {
    fn default() -> Self {
        Self { listen: String::new(), connections_max: default_internal_connections_max() }
    }
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl Secret {
    /// The secret itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// The address of a server, whose password is never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ServerUrl(String);

impl ServerUrl {
    /// The address itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Host and port, by which people know it.
    pub(crate) fn host(&self) -> &str {
        let after_scheme = self.0.split_once("://").map_or(self.0.as_str(), |(_, rest)| rest);
        let host = after_scheme.rsplit_once('@').map_or(after_scheme, |(_, host)| host);
        host.split('/').next().unwrap_or(host)
    }

    fn shown(&self) -> String {
        let (scheme, _) = self.0.split_once("://").unwrap_or_default();
        match self.0.contains('@') {
            true => format!("{scheme}://{HIDDEN}@{}", self.host()),
            false => self.0.clone(),
        }
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

fn default_name() -> String {
    "madang".to_owned()
}

fn default_node_lease_ms() -> u64 {
    120_000
}

fn default_clock_skew_max_ms() -> u64 {
    5_000
}

fn default_internal_connections_max() -> usize {
    512
}

fn default_mysql_connections_max() -> usize {
    12
}

fn default_response_timeout_ms() -> u64 {
    500
}

fn default_near_cache_mb() -> u64 {
    64
}

fn default_own_write_wait_ms() -> u64 {
    madang_redis::COMMITTED_WAIT_MS
}

fn default_partitions() -> u32 {
    12
}

impl ClusterSettings {
    /// The same with everything hidden that must not be seen.
    pub(super) fn hidden(&self) -> Self {
        let mut shown = self.clone();
        if !shown.secret.is_empty() {
            shown.secret = Secret(HIDDEN.to_owned());
        }
        let urls = shown.mysql.iter_mut().map(|server| &mut server.url).chain(&mut shown.redis.urls);
        urls.for_each(|url| *url = ServerUrl(url.shown()));
        shown.kafka.security.values_mut().for_each(|value| *value = Secret(HIDDEN.to_owned()));
        shown
    }

    /// Everything that cannot work, as (setting, what it must be).
    pub(super) fn problems(&self, roles: &Roles) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if self.name.is_empty() || self.name.len() > NAME_CHARS_MAX || !self.name.chars().all(plain) {
            let text = format!("must be 1 to {NAME_CHARS_MAX} characters of a-z, 0-9 and _, not {:?}", self.name);
            problems.push(("cluster.name", text));
        }
        if self.secret.is_empty() == self.secret_file.is_none() {
            problems.push(("cluster.secret", "or `cluster.secret_file` must be set, but not both".to_owned()));
        }
        if !self.secret.is_empty() && self.secret.reveal().len() < SECRET_BYTES_MIN {
            problems.push(("cluster.secret", format!("must have at least {SECRET_BYTES_MIN} characters")));
        }
        problems.extend(self.out_of_range());
        // A clock that is further ahead than a lease lasts gets no id at all.
        if self.clock_skew_max_ms > self.node_lease_ms {
            problems.push(("cluster.clock_skew_max_ms", "must not be more than cluster.node_lease_ms".to_owned()));
        }
        if self.mysql.is_empty() {
            problems
                .push(("cluster.mysql", "must name at least one server, in a section [[cluster.mysql]]".to_owned()));
        }
        if self.redis.urls.is_empty() || (self.redis.mode == RedisMode::Single && self.redis.urls.len() > 1) {
            let text = "must name one server, or one or more nodes of a Redis Cluster if mode = \"cluster\"".to_owned();
            problems.push(("cluster.redis.urls", text));
        }
        if self.kafka.bootstrap.is_empty() {
            problems.push(("cluster.kafka.bootstrap", "must name at least one broker as host:port".to_owned()));
        }
        problems.extend(self.peer_problems(roles).into_iter().map(|problem| ("cluster.peers", problem)));
        problems
    }

    fn out_of_range(&self) -> impl Iterator<Item = (&'static str, String)> {
        let values = [
            u64::from(self.token_generation),
            self.node_lease_ms,
            self.clock_skew_max_ms,
            self.mysql_connections_max as u64,
            self.near_cache_mb,
            self.internal.connections_max as u64,
            self.redis.response_timeout_ms,
            self.redis.own_write_wait_ms,
            u64::from(self.kafka.partitions),
            self.kafka.replication.map_or(1, u64::from),
        ];
        RANGES.iter().zip(values).filter_map(|((key, range), value)| out_of_range(key, &value, range))
    }

    /// The range of a number of the section, in words.
    pub(super) fn range_of(key: &str) -> Option<String> {
        RANGES.iter().find(|(known, _)| *known == key).map(|(_, range)| in_words(range))
    }

    fn peer_problems(&self, roles: &Roles) -> Vec<String> {
        let is_role = |name: &String| Role::ALL.iter().any(|role| role.name() == name);
        let unknown = self
            .peers
            .keys()
            .filter(|name| !is_role(name))
            .map(|name| format!("has an entry {name:?}, which is not a role"));
        let is_url = |url: &str| url.starts_with("http://") && url.len() > "http://".len();
        let wrong = self.peers.values().flatten().filter(|url| !is_url(url));
        let wrong = wrong.map(|url| format!("must have addresses such as http://host:port, not {url:?}"));
        let missing = roles.asked_elsewhere().into_iter().filter(|role| self.peers_of(*role).is_empty());
        let missing = missing.map(|role| {
            let name = role.name();
            format!(
                "must say where the role {name} runs, because this process calls it and does not have it: {name} = \
                 [\"http://host:port\"]"
            )
        });
        unknown.chain(wrong).chain(missing).collect()
    }

    /// Where processes with a role are.
    pub(crate) fn peers_of(&self, role: Role) -> &[String] {
        self.peers.get(role.name()).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> ClusterSettings {
        let whole = format!(
            "secret = \"{}\"\n{text}\n[[mysql]]\nurl = \"mysql://root:pass@db:3306\"\nshards = \"0-63\"\n\
             [redis]\nurls = [\"redis://:word@cache:6379\"]\n[kafka]\nbootstrap = [\"log:9092\"]\n",
            "s".repeat(SECRET_BYTES_MIN)
        );
        toml::from_str(&whole).unwrap()
    }

    fn roles(text: &str) -> Roles {
        text.parse().unwrap()
    }

    #[test]
    fn one_process_with_all_roles_needs_no_peers() {
        assert_eq!(settings("").problems(&roles("all")), []);
        assert_eq!(settings("").problems(&roles("web,member")), [], "pages run every use case themselves");
    }

    #[test]
    fn a_process_says_whom_it_asks_and_does_not_know() {
        let problems = settings("").problems(&roles("like"));
        let text = problems.iter().map(|(_, problem)| problem.as_str()).collect::<Vec<_>>().join("\n");
        assert!(text.contains("role member runs") && text.contains("role article runs"), "{text}");
        assert!(!text.contains("role comment"), "{text}");
    }

    #[test]
    fn nothing_secret_is_shown() {
        let settings = settings("");
        let shown = format!("{}{settings:?}", toml::to_string(&settings.hidden()).unwrap());
        for secret in ["pass", "word", "ssss"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("db:3306") && shown.contains("cache:6379"), "{shown}");
        assert_eq!(settings.mysql[0].url.host(), "db:3306");
        let several = ServerUrl("mysql://root:pass@one:3306,other:3306".to_owned());
        assert_eq!((several.host(), several.shown().contains("pass")), ("one:3306,other:3306", false));
    }

    #[test]
    fn a_short_secret_and_a_name_that_no_database_can_have_are_refused() {
        let mut wrong = settings("name = \"Drop table\"");
        wrong.secret = Secret("short".to_owned());
        let keys: Vec<_> = wrong.problems(&roles("all")).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["cluster.name", "cluster.secret"]);
    }

    #[test]
    fn redis_is_waited_for_a_little_and_not_for_ever() {
        let mut settings = settings("");
        assert_eq!((settings.redis.response_timeout_ms, settings.redis.own_write_wait_ms), (500, 100));
        settings.redis.response_timeout_ms = 0;
        settings.redis.own_write_wait_ms = 5_001;
        let keys: Vec<_> = settings.problems(&roles("all")).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["cluster.redis.response_timeout_ms", "cluster.redis.own_write_wait_ms"]);
    }
}
