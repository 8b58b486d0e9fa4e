//! The servers to test on, from the environment.

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
            mysql: madang_test_servers::mysql(),
            redis: RedisServers::Single(madang_test_servers::redis()),
            kafka: madang_test_servers::kafka(),
            own_write_wait_ms: None,
        }
    }

    /// The same with the Redis Cluster.
    pub(crate) fn with_redis_cluster() -> Self {
        Self { redis: RedisServers::Cluster(madang_test_servers::redis_cluster()), ..Self::of_environment() }
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
