//! Hot articles on SQLite keep the port's promises, and a check finds what breaks them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use madang_board::ArticleId;
use madang_board::check::{CheckFinding, DayNumber, HotFinding};
use madang_conformance::hot_store::HotStoreHarness;
use madang_hot_article::{Counts, Day, HotChange, HotStore, Offsets, Reading, Tally};
use madang_kernel::Id;
use madang_messaging::GroupId;
use madang_sqlite::{CheckOptions, Priority, SqliteHot, SqliteLog};
use support::{TestDb, broken};

struct Harness(TestDb);

impl HotStoreHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn store(&self) -> Arc<dyn HotStore> {
        Arc::new(SqliteHot::new(self.0.db.clone()))
    }

    async fn restart(&mut self) {
        self.0.db.close().await;
        self.0.db = self.0.reopen();
    }

    async fn join(&self, group: &GroupId, topics: &[String]) {
        SqliteLog::new(self.0.db.clone()).register_group(group, topics).await.unwrap();
    }

    async fn stored_offset(&self, group: &GroupId, topic: &str) -> Option<i64> {
        let groups = SqliteLog::new(self.0.db.clone()).groups().await.unwrap();
        groups.iter().find(|state| state.group == *group && state.topic == topic).map(|state| state.done)
    }

    async fn damage_scores(&self) {
        execute(&self.0, "UPDATE hot_score SET score = 1000 - score WHERE deleted = 0").await;
    }

    async fn differences(&self) -> Vec<String> {
        // The cases make offsets up, past the head of a log that is empty.
        let hot = findings(&self.0).await.into_iter().filter(|it| !matches!(it, CheckFinding::OffsetPastHead { .. }));
        hot.map(|finding| finding.to_string()).collect()
    }
}

madang_conformance::hot_store_suite!(Harness);

#[tokio::test]
async fn a_check_finds_every_kind_of_damage() {
    let (first, second) = (ArticleId::from_raw(1), ArticleId::from_raw(2));
    assert_eq!(findings(&filled().await).await, []);
    let differs = |place, listed, scored| HotFinding::ListDiffers { day: DayNumber(20_260_301), place, listed, scored };
    for (damage, expected) in [
        (
            "UPDATE hot_score SET score = 7 WHERE article_id = 3",
            vec![HotFinding::Score {
                day: DayNumber(20_260_301),
                article_id: ArticleId::from_raw(3),
                stored: 7,
                counted: 0,
            }],
        ),
        ("UPDATE hot_score SET day = 20260230 WHERE article_id = 3", vec![HotFinding::NoDay { day: 20_260_230 }]),
        ("DELETE FROM hot_day", vec![HotFinding::ListWithoutMark { day: DayNumber(20_260_301) }]),
        ("DELETE FROM hot_final WHERE article_id = 1", vec![differs(1, second, Some(first))]),
        ("UPDATE hot_final SET like_count = 1 WHERE article_id = 2", vec![differs(2, second, Some(second))]),
        ("DELETE FROM hot_score WHERE article_id = 2", vec![differs(2, second, None)]),
    ] {
        let test = filled().await;
        execute(&test, damage).await;
        let expected: Vec<_> = expected.into_iter().map(CheckFinding::Hot).collect();
        assert_eq!(findings(&test).await, expected, "{damage}");
    }
}

/// A day that is final, with articles 1 and 2 on its list and 3 deleted.
async fn filled() -> TestDb {
    let test = TestDb::fresh();
    let store = SqliteHot::new(test.db.clone());
    let live = |count| Tally::Live(Counts { likes: Reading::new(count, 1), ..Counts::default() });
    let change = |(article, tally)| HotChange { day: day(), article_id: ArticleId::from_raw(article), tally };
    let changes = [(1, live(9)), (2, live(8)), (3, Tally::Gone)].map(change).to_vec();
    store.apply(changes, Offsets { group: GroupId::new("hot-article"), positions: vec![] }).await.unwrap();
    assert!(store.finalise(day()).await.unwrap());
    test
}

fn day() -> Day {
    "2026-03-01".parse().unwrap()
}

async fn execute(test: &TestDb, sql: &'static str) {
    test.db.write(Priority::Foreground, move |tx| tx.execute_batch(sql).map_err(broken)).await.unwrap();
}

async fn findings(test: &TestDb) -> Vec<CheckFinding> {
    madang_sqlite::check(&test.db, CheckOptions { integrity: true, ..CheckOptions::default() }, |_| {})
        .await
        .expect("a check")
        .findings
}
