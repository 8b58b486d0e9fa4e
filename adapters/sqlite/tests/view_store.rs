//! View counts on SQLite keep the port's promises, and a check finds what breaks them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use madang_board::ArticleId;
use madang_board::check::{CheckFinding, ViewFinding};
use madang_conformance::view_store::ViewStoreHarness;
use madang_kernel::{EventId, Id, ManualClock, ShardId, Timestamp};
use madang_messaging::Message;
use madang_sqlite::{CheckOptions, Priority, SqliteViews};
use madang_view::{ViewStore, WriteBack};
use support::{TestDb, broken};

struct Harness(TestDb);

impl ViewStoreHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn store(&self) -> Arc<dyn ViewStore> {
        Arc::new(SqliteViews::new(self.0.db.clone()))
    }

    fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    async fn committed(&self) -> Vec<Message> {
        self.0.db.read(|reader| entries(reader).map_err(broken)).await.expect("a reader")
    }

    async fn differences(&self) -> Vec<String> {
        findings(&self.0).await.iter().map(ToString::to_string).collect()
    }
}

madang_conformance::view_store_suite!(Harness);

#[tokio::test]
async fn counts_survive_a_restart() {
    let test = filled().await;
    test.db.close().await;
    let store = SqliteViews::new(test.reopen());
    assert_eq!(store.find(ArticleId::from_raw(1)).await.unwrap(), madang_view::StoredViews::Count(12));
}

#[tokio::test]
async fn a_check_finds_every_kind_of_damage() {
    let article_id = ArticleId::from_raw(1);
    assert_eq!(findings(&filled().await).await, []);
    for (damage, expected) in [
        (
            "UPDATE article_view_count SET version = 13 WHERE article_id = 1",
            vec![
                ViewFinding::CountVersion { article_id, counted: 12, version: 13 },
                ViewFinding::EventDiffers { article_id, reported: (2, 12), stored: Some((13, 12)) },
            ],
        ),
        (
            "UPDATE article_view_count SET view_count = 11 WHERE article_id = 1",
            vec![ViewFinding::EventDiffers { article_id, reported: (2, 12), stored: Some((2, 11)) }],
        ),
        (
            "DELETE FROM article_view_count WHERE article_id = 1",
            vec![ViewFinding::EventDiffers { article_id, reported: (2, 12), stored: None }],
        ),
        (
            "INSERT INTO view_article_gone (article_id) VALUES (1)",
            vec![ViewFinding::CountOfGone { article_id, counted: 12 }],
        ),
    ] {
        let test = filled().await;
        test.db.write(Priority::Foreground, move |tx| tx.execute_batch(damage).map_err(broken)).await.unwrap();
        let expected: Vec<_> = expected.into_iter().map(CheckFinding::View).collect();
        assert_eq!(findings(&test).await, expected, "{damage}");
    }
}

/// Articles 1 and 2 with counts, the first written twice, and 3 deleted.
async fn filled() -> TestDb {
    let test = TestDb::fresh();
    let store = SqliteViews::new(test.db.clone());
    for (number, (raw, view_count)) in [(1, 5), (2, 7), (3, 9), (1, 12)].into_iter().enumerate() {
        let event_id = EventId::from_raw(number as i64 + 1);
        store.write_back(vec![WriteBack { article_id: ArticleId::from_raw(raw), view_count, event_id }]).await.unwrap();
    }
    store.mark_article_gone(ArticleId::from_raw(3)).await.unwrap();
    test
}

async fn findings(test: &TestDb) -> Vec<CheckFinding> {
    madang_sqlite::check(&test.db, CheckOptions { integrity: true, ..CheckOptions::default() }, |_| {})
        .await
        .expect("a check")
        .findings
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
