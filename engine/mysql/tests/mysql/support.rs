//! Databases of a test's own on real servers, dropped at its end.

#![allow(dead_code, reason = "each test file uses a part of it")]
use std::sync::Arc;

use bytes::Bytes;
use madang_engine_mysql::{AgesBy, Database, MysqlOptions, ServerOptions};
use madang_kernel::{EventId, Id, ManualClock, ShardId, Timestamp};
use madang_messaging::Message;
pub(crate) use madang_test_servers::mysql as servers;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};

use crate::program::Mysql;

/// Where a test's shards are.
pub(crate) trait Topology: Send + Sync + 'static {
    /// The shards of each server.
    const SHARDS: &'static [&'static str];
}

/// Everything on one server.
pub(crate) struct OneServer;
impl Topology for OneServer {
    const SHARDS: &'static [&'static str] = &["0-63"];
}

/// Half of the shards on each of two.
pub(crate) struct TwoServers;
impl Topology for TwoServers {
    const SHARDS: &'static [&'static str] = &["0-31", "32-63"];
}

/// A database of the program under test, fresh.
pub(crate) struct TestDb {
    database: Database,
    pub(crate) db: Mysql,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) options: MysqlOptions,
}

impl TestDb {
    pub(crate) async fn fresh<T: Topology>(database: impl Into<Database>) -> Self {
        Self::open(database.into(), options::<T>()).await
    }

    /// A database as `mariadb-dump` wrote it, opened.
    pub(crate) async fn restored(database: impl Into<Database>, dump: &str) -> Self {
        let (database, options) = (database.into(), options::<OneServer>());
        let (url, name) = (&options.servers[0].url, database.under(&options.database_prefix));
        connect(url, None).await.query_drop(format!("CREATE DATABASE `{name}`")).await.unwrap();
        connect(url, Some(&name)).await.query_drop(dump).await.unwrap();
        Self::open(database, options).await
    }

    async fn open(database: Database, options: MysqlOptions) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let db = Mysql::open(&options, database.clone(), clock.clone()).await.unwrap();
        Self { database, db, clock, options }
    }

    /// A second process on the same databases.
    pub(crate) async fn another(&self) -> Mysql {
        Mysql::open(&self.options, self.database.clone(), self.clock.clone()).await.unwrap()
    }

    /// What it is called on its servers.
    pub(crate) fn database(&self) -> String {
        self.db.name_on_servers()
    }

    /// A connection of the test's own to one server's database.
    pub(crate) async fn connect(&self, server: usize) -> Conn {
        connect(&self.options.servers[server].url, Some(&self.database())).await
    }

    /// Every message in the outbox, in commit order within a shard.
    pub(crate) async fn outbox(&self) -> Vec<Message> {
        type Row = (i64, String, String, u8, i64, Vec<u8>);
        let sql = "SELECT event_id, topic, message_key, shard, occurred_at, payload FROM outbox ORDER BY row_id";
        let rows: Vec<Row> = self.rows(sql).await;
        let message = |(event_id, topic, key, shard, occurred_at, payload): Row| Message {
            event_id: EventId::from_raw(event_id),
            topic,
            key,
            shard: ShardId::new(shard).unwrap(),
            occurred_at: Timestamp::from_millis(occurred_at),
            headers: Vec::new(),
            payload: Bytes::from(payload),
        };
        rows.into_iter().map(message).collect()
    }

    /// Rows of a query on every server, one server after another.
    pub(crate) async fn rows<T>(&self, sql: &str) -> Vec<T>
    where
        T: mysql_async::prelude::FromRow + Send + 'static,
    {
        let mut rows = Vec::new();
        for server in 0..self.options.servers.len() {
            let mut conn = self.connect(server).await;
            rows.extend(conn.query::<T, _>(sql).await.unwrap());
            conn.disconnect().await.unwrap();
        }
        rows
    }
}

fn options<T: Topology>() -> MysqlOptions {
    let urls = servers();
    let servers = urls
        .iter()
        .zip(T::SHARDS)
        .map(|(url, shards)| ServerOptions { url: url.clone(), shards: (*shards).to_owned() });
    let mut options = MysqlOptions::new(servers.collect());
    options.database_prefix = format!("t{:016x}", rand::random::<u64>());
    options.ages_by = AgesBy::Clock;
    options
}

pub(crate) async fn connect(url: &str, database: Option<&str>) -> Conn {
    let opts = OptsBuilder::from_opts(Opts::from_url(url).unwrap()).prefer_socket(false).db_name(database);
    Conn::new(opts).await.unwrap()
}

/// Waits until something is so, and fails when it has not become so in good time.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_so().await {
        assert!(std::time::Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// A test that fails leaves no databases either.
impl Drop for TestDb {
    fn drop(&mut self) {
        let (db, database) = (self.db.clone(), self.database());
        let urls: Vec<String> = self.options.servers.iter().map(|server| server.url.clone()).collect();
        let clean_up = async move {
            db.close().await;
            for url in urls {
                let mut conn = connect(&url, None).await;
                let _ = conn.query_drop(format!("DROP DATABASE IF EXISTS `{database}`")).await;
                let _ = conn.disconnect().await;
            }
        };
        // A runtime of its own: the test's may be ending.
        let cleaner = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(20), clean_up).await.ok() });
        });
        let _ = cleaner.join();
    }
}

/// Stamps a suite on one server and on two.
macro_rules! on_one_and_two_servers {
    ($suite:path, $harness:ident) => {
        mod on_one_server {
            $suite!(super::$harness<crate::support::OneServer>);
        }
        mod on_two_servers {
            $suite!(super::$harness<crate::support::TwoServers>);
        }
    };
}
