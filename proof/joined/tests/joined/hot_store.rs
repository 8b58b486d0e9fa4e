//! Rankings in Redis, over SQLite, keep the promises of the port.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_board::check::CheckFinding;
use madang_conformance::hot_store::HotStoreHarness;
use madang_hot_article::HotStore;
use madang_kernel::{ManualClock, StoreError, Timestamp};
use madang_messaging::GroupId;
use madang_redis::RankedHot;
use madang_sqlite::{CheckOptions, Priority, Sqlite, SqliteHot, SqliteLog, SqliteOptions};

use crate::support::{TestRedis, Topology};

/// Scores in SQLite.
pub(crate) struct Scores {
    pub(crate) db: Sqlite,
    clock: Arc<ManualClock>,
    directory: tempfile::TempDir,
}

impl Scores {
    pub(crate) fn fresh() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), clock.clone()).unwrap();
        Self { db, clock, directory }
    }

    pub(crate) fn store(&self) -> Arc<dyn HotStore> {
        Arc::new(SqliteHot::new(self.db.clone()))
    }

    /// Makes the stored scores wrong: whoever reads them shows it.
    pub(crate) async fn damage(&self) {
        let sql = "UPDATE hot_score SET score = 1000 - score WHERE deleted = 0";
        let damage = self.db.write(Priority::Foreground, move |tx| {
            tx.execute_batch(sql).map_err(|error| StoreError::broken("test", error))
        });
        damage.await.unwrap();
    }
}

struct Harness<T> {
    test: TestRedis,
    scores: Scores,
    store: Arc<RankedHot>,
    topology: PhantomData<T>,
}

impl<T: Topology> HotStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let (test, scores) = (TestRedis::fresh::<T>().await, Scores::fresh());
        let store = Arc::new(RankedHot::new(scores.store(), test.redis.clone()));
        Self { test, scores, store, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn HotStore> {
        Arc::clone(&self.store) as _
    }

    async fn restart(&mut self) {
        self.scores.db.close().await;
        let options = SqliteOptions::in_directory(self.scores.directory.path());
        self.scores.db = madang_sqlite::open(options, self.scores.clock.clone()).unwrap();
        self.store = Arc::new(RankedHot::new(self.scores.store(), self.test.redis.clone()));
    }

    async fn join(&self, group: &GroupId, topics: &[String]) {
        SqliteLog::new(self.scores.db.clone()).register_group(group, topics).await.unwrap();
    }

    async fn stored_offset(&self, group: &GroupId, topic: &str) -> Option<i64> {
        let groups = SqliteLog::new(self.scores.db.clone()).groups().await.unwrap();
        groups.iter().find(|state| state.group == *group && state.topic == topic).map(|state| state.done)
    }

    async fn damage_scores(&self) {
        // The ranking is derived as well, and its damage is that it is gone.
        self.scores.damage().await;
        self.test.lose_everything().await;
    }

    async fn differences(&self) -> Vec<String> {
        let options = CheckOptions { integrity: true, ..CheckOptions::default() };
        let found = madang_sqlite::check(&self.scores.db, options, |_| {}).await.unwrap().findings;
        // The cases make offsets up, past the head of a log that is empty.
        let hot = found.into_iter().filter(|it| !matches!(it, CheckFinding::OffsetPastHead { .. }));
        hot.map(|finding| finding.to_string()).collect()
    }
}

on_one_server_and_on_a_cluster!(madang_conformance::hot_store_suite, Harness);
