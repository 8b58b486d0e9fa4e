//! The parts of the stack: what each is for, which variable names a developer's own, and what it needs installed.

use serde::{Deserialize, Serialize};

/// Something that the cluster composition needs and that can be had or not on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    Mysql,
    Redis,
    RedisCluster,
    Kafka,
    Nginx,
    Browser,
}

/// A command that must be there, and the Debian package that brings it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) command: &'static str,
    pub(crate) package: &'static str,
}

const fn need(command: &'static str, package: &'static str) -> Need {
    Need { command, package }
}

impl Part {
    /// Every part, in the order in which people list them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Mysql, Self::Redis, Self::RedisCluster, Self::Kafka, Self::Nginx, Self::Browser];

    /// The name in progress lines.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mariadb",
            Self::Redis => "redis",
            Self::RedisCluster => "redis-cluster",
            Self::Kafka => "kafka",
            Self::Nginx => "nginx",
            Self::Browser => "browser",
        }
    }

    /// The variable by which tests find it, and by which a developer names servers of their own.
    ///
    /// nginx and the browser have none: tests start them themselves.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Self::Mysql => Some("MADANG_TEST_MYSQL"),
            Self::Redis => Some("MADANG_TEST_REDIS"),
            Self::RedisCluster => Some("MADANG_TEST_REDIS_CLUSTER"),
            Self::Kafka => Some("MADANG_TEST_KAFKA"),
            Self::Nginx | Self::Browser => None,
        }
    }

    /// The commands it is made of.
    pub(crate) fn needs(self) -> &'static [Need] {
        const MYSQL: &[Need] = &[need("mariadbd", "mariadb-server"), need("mariadb-install-db", "mariadb-server")];
        const REDIS: &[Need] = &[need("redis-server", "redis-server"), need("redis-cli", "redis-tools")];
        const KAFKA: &[Need] = &[need("java", "default-jre-headless"), need("mvn", "maven")];
        const NGINX: &[Need] = &[need("nginx", "nginx-light")];
        const BROWSER: &[Need] =
            &[need("chromium", "chromium"), need("chromedriver", "chromium-driver"), need("npm", "npm")];
        match self {
            Self::Mysql => MYSQL,
            Self::Redis | Self::RedisCluster => REDIS,
            Self::Kafka => KAFKA,
            Self::Nginx => NGINX,
            Self::Browser => BROWSER,
        }
    }

    /// A developer's own servers, where the variable names some.
    pub(crate) fn own(self) -> Option<String> {
        let value = std::env::var(self.variable()?).ok()?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }
}
