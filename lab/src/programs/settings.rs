//! Where the servers are, as every program is told: by flags, or by the environment so that no password shows in a list of
//! processes.

use madang_engine_kafka::KafkaOptions;
use madang_engine_mysql::{MysqlOptions, ServerOptions};
use madang_engine_redis::RedisOptions;

use crate::domain::TOPIC;

/// Partitions of every topic of the Lab.
pub const PARTITIONS: u32 = 4;
/// The program's name in the names of groups.
pub const PROGRAM: &str = "lab";

/// The database server.
#[derive(Debug, Clone, clap::Args)]
pub struct MysqlSettings {
    /// `mysql://user:password@host:port`
    #[arg(long, env = "LAB_MYSQL", hide_env_values = true)]
    pub mysql: String,
}

impl MysqlSettings {
    /// The databases under a prefix.
    #[must_use]
    pub fn options(&self, prefix: &str) -> MysqlOptions {
        let server = ServerOptions { url: self.mysql.clone(), shards: "0-63".to_owned() };
        MysqlOptions { database_prefix: prefix.to_owned(), connections_max: 8, ..MysqlOptions::new(vec![server]) }
    }
}

/// The broker.
#[derive(Debug, Clone, clap::Args)]
pub struct KafkaSettings {
    /// Brokers, `host:port`, separated by commas.
    #[arg(long, env = "LAB_KAFKA")]
    pub kafka: String,
    /// A member of a group that is silent for so long loses its partitions, in milliseconds.
    #[arg(long, env = "LAB_SESSION_MS", default_value_t = 6_000)]
    pub session_ms: u64,
}

impl KafkaSettings {
    /// The log under a prefix.
    #[must_use]
    pub fn options(&self, prefix: &str) -> KafkaOptions {
        KafkaOptions {
            prefix: format!("{prefix}."),
            topics: vec![TOPIC.to_owned()],
            partitions: PARTITIONS,
            session_timeout_ms: self.session_ms,
            ..KafkaOptions::new(PROGRAM, &self.kafka)
        }
    }
}

/// Redis.
#[derive(Debug, Clone, clap::Args)]
pub struct RedisSettings {
    /// `redis://host:port`
    #[arg(long, env = "LAB_REDIS")]
    pub redis: String,
}

impl RedisSettings {
    /// Redis under a prefix.
    #[must_use]
    pub fn options(&self, prefix: &str) -> RedisOptions {
        RedisOptions::single(prefix, &self.redis)
    }
}
