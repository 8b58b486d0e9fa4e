//! Comments on SQLite keep the port's promises.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::{CommentStore, CreateComment, CreateOutcome, DepthMax, LevelFull, Refusal};
use madang_conformance::comment_store::CommentStoreHarness;
use madang_event::Writer;
use madang_kernel::{EventId, Id, ManualClock, ShardId, StoreError, Timestamp};
use madang_member::ActSource;
use madang_messaging::Message;
use madang_sqlite::{CheckOptions, Priority, SqliteComments, SqliteModeration, Tx};
use support::{TestDb, broken};

struct Harness(TestDb);

impl CommentStoreHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn store(&self) -> Arc<dyn CommentStore> {
        Arc::new(SqliteComments::new(self.0.db.clone()))
    }

    fn acts(&self) -> Arc<dyn ActSource> {
        Arc::new(SqliteModeration::new(self.0.db.clone()))
    }

    fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    async fn committed(&self) -> Vec<Message> {
        self.0.db.read(|reader| entries(reader).map_err(broken)).await.unwrap()
    }

    async fn differences(&self) -> Vec<String> {
        differences(&self.0).await
    }
}

async fn differences(test: &TestDb) -> Vec<String> {
    let report = madang_sqlite::check(&test.db, CheckOptions { integrity: true, ..CheckOptions::default() }, |_| {})
        .await
        .unwrap();
    report.findings.iter().map(ToString::to_string).collect()
}

fn entries(reader: &rusqlite::Connection) -> rusqlite::Result<Vec<Message>> {
    let sql = "SELECT event_id, topic, key, shard, occurred_at, payload FROM event_log ORDER BY position";
    let mut statement = reader.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Message {
            event_id: EventId::from_raw(row.get(0)?),
            topic: row.get(1)?,
            key: row.get(2)?,
            shard: ShardId::new(row.get(3)?).unwrap(),
            occurred_at: Timestamp::from_millis(row.get(4)?),
            headers: Vec::new(),
            payload: Bytes::from(row.get::<_, Vec<u8>>(5)?),
        })
    })?;
    rows.collect()
}

madang_conformance::comment_store_suite!(Harness);

fn comment(id: i64, parent: Option<i64>) -> CreateComment {
    CreateComment {
        despite_lock: false,
        comment_id: CommentId::from_raw(id),
        article_id: ArticleId::from_raw(71),
        board_id: BoardId::from_raw(9),
        parent_id: parent.map(CommentId::from_raw),
        mode: CommentMode::Tree,
        depth_max: DepthMax::DEFAULT,
        content: "text".into(),
        content_html: "<p>text</p>\n".into(),
        writer: Writer { member_id: MemberId::from_raw(7), name: "name".into() },
        created_at: Timestamp::from_millis(1_750_000_000_000),
        event_id: EventId::from_raw(id + 1_000),
        idempotency: None,
    }
}

async fn damage(test: &TestDb, sql: &'static str) {
    let call = move |tx: &Tx| tx.execute(sql, []).map(drop).map_err(broken);
    test.db.write::<()>(Priority::Foreground, call).await.unwrap();
}

/// Two comments and a reply.
async fn filled() -> (TestDb, SqliteComments) {
    let test = TestDb::fresh();
    let store = SqliteComments::new(test.db.clone());
    for new in [comment(1, None), comment(2, None), comment(3, Some(1))] {
        assert!(matches!(store.create(new).await.unwrap(), CreateOutcome::Created(_)));
    }
    (test, store)
}

#[tokio::test]
async fn a_full_level_is_refused_and_leaves_nothing() -> Result<(), StoreError> {
    let (test, store) = filled().await;
    damage(&test, "UPDATE comment SET path = 'zzzzz' WHERE comment_id = 2").await;
    let full = CreateOutcome::Refused(Refusal::LevelFull(LevelFull));
    assert_eq!(store.create(comment(4, None)).await?, full);
    assert_eq!(store.count(ArticleId::from_raw(71)).await?.version, 3);
    assert!(matches!(store.create(comment(5, Some(2))).await?, CreateOutcome::Created(_)), "another level has room");
    assert_eq!(differences(&test).await, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_check_finds_comments_that_are_counted_wrong_or_hang_in_the_air() {
    for (sql, finding) in [
        ("UPDATE article_comment_count SET comment_count = 2", "article 71 counts 2 comments in 3 rows and has 3 in 3"),
        ("UPDATE article_comment_count SET row_count = 4, version = 4", "article 71 counts 3 comments in 4 rows and"),
        ("UPDATE article_comment_count SET greatest_id = 1", "article 71 counts its comments after only 3 changes"),
        ("DELETE FROM article_comment_count", "article 71 counts 0 comments in 0 rows and has 3 in 3"),
        (
            "INSERT INTO comment_article_gone (article_id, gone_at) VALUES (71, 1)",
            "article 71 is gone and its comments are still counted",
        ),
        ("UPDATE comment SET parent_id = 9 WHERE comment_id = 3", "comment 3 replies to one that is not there"),
    ] {
        let (test, _) = filled().await;
        assert_eq!(differences(&test).await, Vec::<String>::new());
        damage(&test, sql).await;
        let found = differences(&test).await;
        assert!(found.len() == 1 && found[0].starts_with(finding), "{sql}: {found:?}");
    }
}
