//! Boards and articles on SQLite keep the port's promises.

mod support;

use std::sync::Arc;

use bytes::Bytes;
use madang_article::ArticleStore;
use madang_conformance::article_store::ArticleStoreHarness;
use madang_kernel::{EventId, Id, ManualClock, ShardId, Timestamp};
use madang_member::ActSource;
use madang_messaging::Message;
use madang_sqlite::{CheckOptions, SqliteArticles, SqliteModeration};
use support::TestDb;

struct Harness(TestDb);

impl ArticleStoreHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn store(&self) -> Arc<dyn ArticleStore> {
        Arc::new(SqliteArticles::new(self.0.db.clone()))
    }

    fn acts(&self) -> Arc<dyn ActSource> {
        Arc::new(SqliteModeration::new(self.0.db.clone()))
    }

    fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    async fn committed(&self) -> Vec<Message> {
        let call = |reader: &rusqlite::Connection| Ok(entries(reader).expect("the log can be read"));
        self.0.db.read(call).await.expect("a reader")
    }

    async fn differences(&self) -> Vec<String> {
        let options = CheckOptions { integrity: true, ..CheckOptions::default() };
        let report = madang_sqlite::check(&self.0.db, options, |_| {}).await.expect("a check");
        report.findings.iter().map(ToString::to_string).collect()
    }
}

fn entries(reader: &rusqlite::Connection) -> rusqlite::Result<Vec<Message>> {
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

madang_conformance::article_store_suite!(Harness);
