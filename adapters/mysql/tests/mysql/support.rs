//! Databases of a test's own on real servers, dropped at its end.

#![allow(dead_code, reason = "each test file uses a part of it")]
use std::sync::Arc;

use bytes::Bytes;
use madang_kernel::{EventId, Id, ManualClock, ShardId, Timestamp};
use madang_messaging::Message;
use madang_mysql::{AgesBy, Mysql, MysqlOptions, ServerOptions, Service};
pub(crate) use madang_test_servers::mysql as servers;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};

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

/// A service's databases, fresh.
pub(crate) struct TestDb {
    pub(crate) db: Mysql,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) options: MysqlOptions,
}

impl TestDb {
    pub(crate) async fn fresh<T: Topology>(service: Service) -> Self {
        let urls = servers();
        let servers = urls
            .iter()
            .zip(T::SHARDS)
            .map(|(url, shards)| ServerOptions { url: url.clone(), shards: (*shards).to_owned() });
        let mut options = MysqlOptions::new(servers.collect());
        options.database_prefix = format!("t{:016x}", rand::random::<u64>());
        options.ages_by = AgesBy::Clock;
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let db = Mysql::open(&options, service, clock.clone()).await.unwrap();
        Self { db, clock, options }
    }

    /// A second process on the same databases.
    pub(crate) async fn another(&self) -> Mysql {
        Mysql::open(&self.options, self.db.service(), self.clock.clone()).await.unwrap()
    }

    /// The databases' name.
    pub(crate) fn database(&self) -> String {
        self.db.service().database(&self.options.database_prefix)
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

    /// Counters of likes that differ from their rows.
    pub(crate) async fn like_differences(&self) -> Vec<String> {
        let sql = "SELECT c.article_id, c.like_count, COUNT(l.member_id)
                   FROM article_like_count c
                   LEFT JOIN article_like l ON l.shard = c.shard AND l.article_id = c.article_id
                   GROUP BY c.shard, c.article_id HAVING c.like_count <> COUNT(l.member_id)
                   UNION ALL
                   SELECT l.article_id, -1, COUNT(*) FROM article_like l
                   LEFT JOIN article_like_count c ON c.shard = l.shard AND c.article_id = l.article_id
                   WHERE c.article_id IS NULL GROUP BY l.shard, l.article_id";
        let rows: Vec<(i64, i64, i64)> = self.rows(sql).await;
        rows.iter().map(|(article, count, rows)| format!("{article}: counted {count}, rows {rows}")).collect()
    }

    /// Counters and blocks of boards that differ from the articles they count.
    pub(crate) async fn article_differences(&self) -> Vec<String> {
        let counters = "SELECT c.board_id, 0, c.article_count, COUNT(a.article_id)
                        FROM board_article_count c LEFT JOIN article a ON a.board_id = c.board_id
                        GROUP BY c.shard, c.board_id HAVING c.article_count <> COUNT(a.article_id)";
        let blocks = "SELECT b.board_id, b.level, b.article_count, COUNT(a.article_id)
                      FROM (SELECT shard, board_id, level, first_id, article_count,
                                   COALESCE(LEAD(first_id) OVER (PARTITION BY board_id, level ORDER BY first_id),
                                            9223372036854775807) AS next_id
                            FROM article_block) b
                      LEFT JOIN article a
                        ON a.board_id = b.board_id AND a.article_id >= b.first_id AND a.article_id < b.next_id
                      GROUP BY b.board_id, b.level, b.first_id, b.article_count
                      HAVING b.article_count <> COUNT(a.article_id)";
        let uncounted = "SELECT a.board_id, 0, -1, COUNT(*) FROM article a
                         WHERE NOT EXISTS (SELECT 1 FROM board_article_count c WHERE c.board_id = a.board_id)
                         GROUP BY a.board_id";
        let mut differences = Vec::new();
        for sql in [counters, blocks, uncounted] {
            let rows: Vec<(i64, i64, i64, i64)> = self.rows(sql).await;
            differences.extend(rows.iter().map(|(board, level, count, rows)| {
                format!("board {board}, level {level}: counted {count}, rows {rows}")
            }));
        }
        differences
    }

    /// Counters of comments that differ from their rows, and replies to nothing.
    pub(crate) async fn comment_differences(&self) -> Vec<String> {
        let counted = "SELECT c.article_id, c.comment_count, c.row_count, COUNT(m.content), COUNT(m.comment_id)
                       FROM article_comment_count c LEFT JOIN comment m ON m.article_id = c.article_id
                       GROUP BY c.shard, c.article_id
                       HAVING c.comment_count <> COUNT(m.content) OR c.row_count <> COUNT(m.comment_id)";
        let uncounted = "SELECT m.article_id, -1, -1, 0, COUNT(*) FROM comment m
                         WHERE NOT EXISTS (SELECT 1 FROM article_comment_count c WHERE c.article_id = m.article_id)
                           AND NOT EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = m.article_id)
                         GROUP BY m.article_id";
        let of_gone = "SELECT c.article_id, c.comment_count, -1, -1, -1 FROM article_comment_count c
                       JOIN comment_article_gone g ON g.article_id = c.article_id";
        let orphans = "SELECT m.article_id, m.comment_id, m.parent_id, -1, -1 FROM comment m
                       LEFT JOIN comment p ON p.comment_id = m.parent_id AND p.article_id = m.article_id
                       WHERE p.comment_id IS NULL
                         AND NOT EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = m.article_id)";
        let mut differences = Vec::new();
        for sql in [counted, uncounted, of_gone, orphans] {
            let rows: Vec<(i64, i64, i64, i64, i64)> = self.rows(sql).await;
            differences.extend(rows.iter().map(|row| format!("{row:?}")));
        }
        differences
    }

    /// Scores that differ from their counts, and lists without a mark.
    pub(crate) async fn hot_differences(&self) -> Vec<String> {
        let scores = "SELECT day, article_id, falling_score FROM hot_score
                      WHERE CAST(-falling_score AS UNSIGNED) <> IF(deleted, 0, 3 * like_count + 2 * comment_count + view_count)";
        let unmarked =
            "SELECT DISTINCT f.day, 0, 0 FROM hot_final f JOIN hot_day d ON d.shard = f.shard AND d.day = f.day
                        WHERE d.finalised_at IS NULL";
        let gone = "SELECT f.day, f.article_id, f.place FROM hot_final f
                    LEFT JOIN hot_score s ON s.shard = f.shard AND s.day = f.day AND s.article_id = f.article_id
                    WHERE s.deleted IS NULL OR s.deleted = 1";
        let mut differences = Vec::new();
        for sql in [scores, unmarked, gone] {
            let rows: Vec<(i64, i64, i64)> = self.rows(sql).await;
            differences.extend(rows.iter().map(|row| format!("{row:?}")));
        }
        differences
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
