//! Keys of a test's own on real servers, removed at its end.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::time::Duration;

use madang_engine_redis::{Redis, RedisOptions};
use tokio::time::Instant;

/// Where a test's keys are.
pub(crate) trait Topology: Send + Sync + 'static {
    /// The servers, under a prefix of the test's own.
    fn options() -> RedisOptions;
}

/// One server.
pub(crate) struct OneServer;
impl Topology for OneServer {
    fn options() -> RedisOptions {
        patient(RedisOptions::single("t", madang_test_servers::redis()))
    }
}

/// A cluster of three nodes.
pub(crate) struct ThreeNodes;
impl Topology for ThreeNodes {
    fn options() -> RedisOptions {
        patient(RedisOptions::cluster("t", madang_test_servers::redis_cluster()))
    }
}

/// A prefix of its own, and time-outs for a machine that does other things too.
pub(crate) fn patient(options: RedisOptions) -> RedisOptions {
    let prefix = format!("t{:016x}", rand::random::<u64>());
    RedisOptions { prefix, response_timeout_ms: 20_000, connect_timeout_ms: 20_000, ..options }
}

/// A site of a test's own, forgotten at its end.
pub(crate) struct TestRedis {
    pub(crate) redis: Redis,
    pub(crate) options: RedisOptions,
}

impl TestRedis {
    pub(crate) async fn fresh<T: Topology>() -> Self {
        Self::over(T::options()).await
    }

    pub(crate) async fn over(options: RedisOptions) -> Self {
        Self { redis: Redis::connect(&options).await.unwrap(), options }
    }

    /// A second process on the same keys.
    pub(crate) async fn another(&self) -> Redis {
        Redis::connect(&self.options).await.unwrap()
    }

    /// Removes every key of the test, as if the servers had lost them.
    pub(crate) async fn lose_everything(&self) {
        forget(&self.options).await;
    }

    /// Removes the keys that end like this, as an eviction would.
    pub(crate) async fn lose(&self, end: &str) {
        for url in &self.options.urls {
            let mut connection = connect(url).await;
            for key in scan(&mut connection, &self.options.prefix).await {
                if key.ends_with(end.as_bytes()) {
                    redis::cmd("UNLINK").arg(key).exec_async(&mut connection).await.unwrap();
                }
            }
        }
    }

    /// Every key of the test, with its time to live in milliseconds.
    pub(crate) async fn keys(&self) -> Vec<(String, i64)> {
        let mut found = Vec::new();
        for url in &self.options.urls {
            let mut connection = connect(url).await;
            for key in scan(&mut connection, &self.options.prefix).await {
                let ttl: i64 = redis::cmd("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
                found.push((String::from_utf8_lossy(&key).into_owned(), ttl));
            }
        }
        found.sort();
        found
    }

    /// Makes every server forget its scripts.
    pub(crate) async fn forget_scripts(&self) {
        for url in &self.options.urls {
            let mut connection = connect(url).await;
            redis::cmd("SCRIPT").arg("FLUSH").exec_async(&mut connection).await.unwrap();
        }
    }
}

pub(crate) async fn connect(url: &str) -> redis::aio::MultiplexedConnection {
    redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap()
}

async fn scan(connection: &mut redis::aio::MultiplexedConnection, prefix: &str) -> Vec<Vec<u8>> {
    let (mut cursor, mut found) = (0_u64, Vec::new());
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(format!("{prefix}:*")).arg("COUNT").arg(10_000);
        let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(connection).await.unwrap();
        found.extend(keys);
        cursor = next;
        if cursor == 0 {
            return found;
        }
    }
}

async fn forget(options: &RedisOptions) {
    for url in &options.urls {
        let mut connection = connect(url).await;
        for key in scan(&mut connection, &options.prefix).await {
            redis::cmd("UNLINK").arg(key).exec_async(&mut connection).await.unwrap();
        }
    }
}

/// A test that fails leaves no keys either.
impl Drop for TestRedis {
    fn drop(&mut self) {
        let options = self.options.clone();
        // A runtime of its own: the test's may be ending.
        let cleaner = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), forget(&options)).await.ok() });
        });
        let _ = cleaner.join();
    }
}

/// Waits for what must come true.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut is_true: impl FnMut() -> F) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_true().await {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Stamps a suite on one server and on a cluster.
macro_rules! on_one_server_and_on_a_cluster {
    ($suite:path, $harness:ident) => {
        mod on_one_server {
            $suite!(super::$harness<crate::support::OneServer>);
        }
        mod on_a_cluster {
            $suite!(super::$harness<crate::support::ThreeNodes>);
        }
    };
}
