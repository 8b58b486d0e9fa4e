//! The servers to test on, from the environment.

use std::io::Write as _;

/// Where the servers are.
#[derive(Clone)]
pub(crate) struct Servers {
    pub(crate) mysql: Vec<String>,
    pub(crate) redis: RedisServers,
    pub(crate) kafka: String,
    /// How long a write waits for the query model, where that is not to matter.
    pub(crate) own_write_wait_ms: Option<u64>,
}

/// One Redis, or a Redis Cluster.
#[derive(Clone)]
pub(crate) enum RedisServers {
    Single(String),
    Cluster(Vec<String>),
}

impl Servers {
    /// The servers of the environment, with one Redis.
    pub(crate) fn of_environment() -> Self {
        Self {
            mysql: list("MADANG_TEST_MYSQL"),
            redis: RedisServers::Single(list("MADANG_TEST_REDIS").remove(0)),
            kafka: list("MADANG_TEST_KAFKA").join(","),
            own_write_wait_ms: None,
        }
    }

    /// The same with the Redis Cluster.
    pub(crate) fn with_redis_cluster() -> Self {
        Self { redis: RedisServers::Cluster(list("MADANG_TEST_REDIS_CLUSTER")), ..Self::of_environment() }
    }

    /// The section of the configuration file.
    pub(crate) fn section(&self) -> String {
        let count = self.mysql.len();
        let shards = |server: usize| format!("{}-{}", server * 64 / count, (server + 1) * 64 / count - 1);
        let mut text = String::new();
        for (server, url) in self.mysql.iter().enumerate() {
            text.push_str(&format!("[[cluster.mysql]]\nurl = {url:?}\nshards = {:?}\n", shards(server)));
        }
        let (mode, urls) = match &self.redis {
            RedisServers::Single(url) => ("single", vec![url.clone()]),
            RedisServers::Cluster(urls) => ("cluster", urls.clone()),
        };
        let brokers: Vec<&str> = self.kafka.split(',').collect();
        // Few partitions: every test has topics of its own, and a broker is to hold them all.
        text.push_str(&format!("[cluster.redis]\nmode = {mode:?}\nurls = {urls:?}\n"));
        // A machine that is busy is no Redis that is away.
        text.push_str("response_timeout_ms = 10000\n");
        if let Some(wait) = self.own_write_wait_ms {
            text.push_str(&format!("own_write_wait_ms = {wait}\n"));
        }
        text.push_str(&format!("[cluster.kafka]\nbootstrap = {brokers:?}\npartitions = 2\n"));
        text
    }
}

fn list(variable: &str) -> Vec<String> {
    let Ok(found) = std::env::var(variable) else {
        let promised = std::env::var("MADANG_TEST_STACK").is_ok_and(|promised| promised == "1");
        assert!(!promised, "{variable} is not set, and a stack was promised");
        // Past the capture of the test's output.
        let _ = writeln!(
            std::io::stderr(),
            "\n==> LEFT OUT: {variable} is not set, so the cluster composition was not tested. \
             `cargo xtask stack up` starts servers."
        );
        std::process::exit(0);
    };
    found.split(',').map(|item| item.trim().to_owned()).collect()
}
