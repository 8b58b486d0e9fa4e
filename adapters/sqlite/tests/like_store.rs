//! Likes on SQLite keep the port's promises.

mod support;

use std::sync::Arc;

use bytes::Bytes;
use madang_board::ArticleId;
use madang_conformance::like_store::LikeStoreHarness;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_like::LikeStore;
use madang_messaging::Message;
use madang_sqlite::{CheckOptions, SqliteLikes};
use rusqlite::Connection;
use support::{TestDb, broken};

struct Harness {
    test: TestDb,
}

impl LikeStoreHarness for Harness {
    async fn fresh() -> Self {
        Self { test: TestDb::fresh() }
    }

    fn store(&self) -> Arc<dyn LikeStore> {
        Arc::new(SqliteLikes::new(self.test.db.clone()))
    }

    async fn committed(&self) -> Vec<Message> {
        self.test.db.read(|reader| entries(reader).map_err(broken)).await.expect("the log can be read")
    }

    async fn count_and_rows(&self, article: ArticleId) -> (Option<u64>, u64) {
        let sql = "SELECT (SELECT like_count FROM article_like_count WHERE article_id = ?1),
                          (SELECT count(*) FROM article_like WHERE article_id = ?1)";
        let read = move |reader: &Connection| {
            let both: rusqlite::Result<(Option<i64>, i64)> =
                reader.query_row(sql, [article.raw()], |row| Ok((row.get(0)?, row.get(1)?)));
            both.map_err(broken)
        };
        let (count, rows) = self.test.db.read(read).await.expect("both can be read");
        (count.map(i64::cast_unsigned), rows.cast_unsigned())
    }

    async fn differences(&self) -> Vec<String> {
        let options = CheckOptions { integrity: true, ..CheckOptions::default() };
        let report = madang_sqlite::check(&self.test.db, options, |_| {}).await.expect("a check");
        report.findings.iter().map(ToString::to_string).collect()
    }
}

fn entries(reader: &Connection) -> rusqlite::Result<Vec<Message>> {
    let sql = "SELECT event_id, topic, key, shard, occurred_at, payload FROM event_log ORDER BY position";
    let mut statement = reader.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Message {
            event_id: EventId::from_raw(row.get(0)?),
            topic: row.get(1)?,
            key: row.get(2)?,
            shard: ShardId::new(row.get(3)?).expect("a shard"),
            occurred_at: Timestamp::from_millis(row.get(4)?),
            headers: Vec::new(),
            payload: Bytes::from(row.get::<_, Vec<u8>>(5)?),
        })
    })?;
    rows.collect()
}

madang_conformance::like_store_suite!(Harness);
