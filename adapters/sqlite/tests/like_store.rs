//! Likes on SQLite keep the port's promises, whichever way they are counted.

mod support;

use std::sync::Arc;

use bytes::Bytes;
use madang_board::ArticleId;
use madang_conformance::like_store::LikeStoreHarness;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_like::LikeStore;
use madang_messaging::Message;
use madang_sqlite::{CheckOptions, Counting, SqliteLikes};
use rusqlite::Connection;
use support::{TestDb, broken};

/// One way of counting, with the crowd it is tried with.
trait Way: Send + Sync + 'static {
    const COUNTING: Counting;
    const CROWD: i64 = 3_000;
    const TASKS: i64 = 100;
}

struct Harness<W> {
    test: TestDb,
    way: std::marker::PhantomData<W>,
}

impl<W: Way> LikeStoreHarness for Harness<W> {
    const CROWD: i64 = W::CROWD;
    const TASKS: i64 = W::TASKS;

    async fn fresh() -> Self {
        Self { test: TestDb::fresh(), way: std::marker::PhantomData }
    }

    fn store(&self) -> Arc<dyn LikeStore> {
        Arc::new(SqliteLikes::counting(self.test.db.clone(), W::COUNTING))
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

struct InPlace;
impl Way for InPlace {
    const COUNTING: Counting = Counting::UpdateInPlace;
}

struct ForUpdate;
impl Way for ForUpdate {
    const COUNTING: Counting = Counting::SelectForUpdate;
}

struct Optimist;
impl Way for Optimist {
    const COUNTING: Counting = Counting::Optimistic;
    // In a crowd all but one try in vain each time, so the work grows with its square.
    const CROWD: i64 = 300;
    const TASKS: i64 = 20;
}

struct Group;
impl Way for Group {
    const COUNTING: Counting = Counting::Grouped;
}

mod update_in_place {
    madang_conformance::like_store_suite!(super::Harness<super::InPlace>);
}

mod select_for_update {
    madang_conformance::like_store_suite!(super::Harness<super::ForUpdate>);
}

mod optimistic {
    madang_conformance::like_store_suite!(super::Harness<super::Optimist>);
}

mod grouped {
    madang_conformance::like_store_suite!(super::Harness<super::Group>);
}
