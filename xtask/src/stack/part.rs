//! The parts of the stack: which servers each has, which variable names a developer's own, and what must be installed.

use serde::{Deserialize, Serialize};

use super::observe;
use super::state::Shape;

/// Something that the cluster composition needs and that can be had or not on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    Mysql,
    /// A replica of each MariaDB server, where asked for.
    MysqlReplica,
    Redis,
    RedisCluster,
    Kafka,
    Nginx,
    Browser,
    /// Tests the rules of Prometheus.
    Promtool,
    /// Programs of a machine that read files of `deploy/`, which tests run.
    HostTools,
    /// Prometheus and exporters, where asked for.
    Observe,
}

/// Behind the name of a server, that of its replica.
pub(crate) const REPLICA_SUFFIX: &str = "-replica";

/// A command that must be there, and the Debian package that brings it.
pub(crate) type Need = (&'static str, &'static str);

impl Part {
    /// Every part, in the order in which people list them.
    pub(crate) const ALL: [Self; 10] = [
        Self::Mysql,
        Self::MysqlReplica,
        Self::Redis,
        Self::RedisCluster,
        Self::Kafka,
        Self::Nginx,
        Self::Browser,
        Self::Promtool,
        Self::HostTools,
        Self::Observe,
    ];

    /// The name in progress lines.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mariadb",
            Self::MysqlReplica => "mariadb-replica",
            Self::Redis => "redis",
            Self::RedisCluster => "redis-cluster",
            Self::Kafka => "kafka",
            Self::Nginx => "nginx",
            Self::Browser => "browser",
            Self::Promtool => "promtool",
            Self::HostTools => "host-tools",
            Self::Observe => "observe",
        }
    }

    /// The names of its servers. nginx, the browser, promtool and the tools of the host have none: tests start them themselves.
    pub(crate) fn servers(self, shape: Shape) -> Vec<String> {
        let numbered = |count: u8| (1..=count).map(|number| format!("{}-{number}", self.name())).collect();
        match self {
            Self::Mysql => numbered(2),
            Self::MysqlReplica if shape.replicas => {
                Self::Mysql.servers(shape).iter().map(|name| format!("{name}{REPLICA_SUFFIX}")).collect()
            }
            Self::MysqlReplica => Vec::new(),
            Self::Redis => vec![self.name().to_owned()],
            // The smallest cluster that Redis calls one, and a replica of each node.
            Self::RedisCluster => numbered(if shape.has_redis_replicas() { 6 } else { 3 }),
            Self::Kafka => numbered(shape.brokers),
            Self::Observe if shape.observe.is_some() => {
                let relational = [Self::Mysql, Self::MysqlReplica].into_iter().filter(|_| Self::Mysql.own().is_none());
                observe::names(relational.flat_map(|part| part.servers(shape)))
            }
            Self::Observe => Vec::new(),
            Self::Nginx | Self::Browser | Self::Promtool | Self::HostTools => Vec::new(),
        }
    }

    /// Whether its servers talk to one another through a port of their own.
    pub(crate) fn has_peers(self) -> bool {
        matches!(self, Self::RedisCluster | Self::Kafka)
    }

    /// The variable by which tests find it, and by which a developer names servers of their own.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Self::Mysql => Some("MADANG_TEST_MYSQL"),
            Self::Redis => Some("MADANG_TEST_REDIS"),
            Self::RedisCluster => Some("MADANG_TEST_REDIS_CLUSTER"),
            Self::Kafka => Some("MADANG_TEST_KAFKA"),
            Self::MysqlReplica | Self::Nginx | Self::Browser | Self::Promtool | Self::HostTools | Self::Observe => None,
        }
    }

    /// A developer's own servers, where the variable names some.
    pub(crate) fn own(self) -> Option<String> {
        std::env::var(self.variable()?).ok().filter(|value| !value.trim().is_empty())
    }

    /// The commands it is made of.
    pub(crate) fn needs(self) -> &'static [Need] {
        match self {
            Self::Mysql | Self::MysqlReplica => {
                &[
                    ("mariadbd", "mariadb-server"),
                    ("mariadb-install-db", "mariadb-server"),
                    // Tests copy servers by it.
                    ("mariadb-backup", "mariadb-backup"),
                ]
            }
            Self::Redis | Self::RedisCluster => &[("redis-server", "redis-server"), ("redis-cli", "redis-tools")],
            Self::Kafka => &[("java", "default-jre-headless"), ("mvn", "maven")],
            Self::Nginx => &[("nginx", "nginx-light")],
            Self::Promtool => &[("promtool", "prometheus")],
            Self::HostTools => &[("fail2ban-regex", "fail2ban"), ("systemd-analyze", "systemd")],
            Self::Observe => &[
                ("prometheus", "prometheus"),
                ("prometheus-mysqld-exporter", "prometheus-mysqld-exporter"),
                ("prometheus-redis-exporter", "prometheus-redis-exporter"),
                ("prometheus-node-exporter", "prometheus-node-exporter"),
            ],
            Self::Browser => &[
                ("chromium", "chromium"),
                ("chromedriver", "chromium-driver"),
                ("npm", "npm"),
                ("node", "nodejs"),
                ("java", "default-jre-headless"),
            ],
        }
    }
}
