//! The view service on the real store: views that race the deletion of their article leave nothing behind.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleFacts, ArticleId, ArticleLookup, BoardId, CommentMode, MemberId};
use madang_kernel::{Id, IdGenerator, NodeId, NodeLease, StoreError};
use madang_sqlite::{CheckOptions, SqliteViews};
use madang_view::{GuestKey, LiveLimits, StoredViews, ViewConfig, ViewError, ViewService, ViewStore, Viewer};
use support::TestDb;
use tokio::task::JoinSet;

const ARTICLES: i64 = 8;
const VIEWERS: i64 = 400;

/// A cache that has not heard of any deletion yet: the worst that a look-up may do.
struct AllExist;

#[async_trait]
impl ArticleLookup for AllExist {
    async fn facts(&self, _: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        Ok(Some(ArticleFacts { board_id: BoardId::from_raw(1), comment_mode: CommentMode::Tree, archived: false }))
    }
}

fn service(test: &TestDb, live: LiveLimits) -> Arc<ViewService> {
    let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
    let ids = Arc::new(IdGenerator::new(test.clock.clone(), lease));
    let config = ViewConfig { window_entries: 1 << 14, live, ..ViewConfig::default() };
    let store = Arc::new(SqliteViews::new(test.db.clone()));
    let key = GuestKey::new([1; 32]);
    Arc::new(ViewService::new(store, Arc::new(AllExist), ids, test.clock.clone(), &key, config))
}

/// Every viewer views every article; returns how many views were counted.
fn crowd(views: &Arc<ViewService>) -> JoinSet<u64> {
    let mut crowd = JoinSet::new();
    for member in 1..=VIEWERS {
        let views = Arc::clone(views);
        crowd.spawn(async move {
            let mut counted = 0;
            for raw in 1..=ARTICLES {
                match views.view(ArticleId::from_raw(raw), Viewer::member(MemberId::from_raw(member))).await {
                    Ok(viewed) => counted += u64::from(viewed.counted),
                    Err(ViewError::NotFound) => {}
                    Err(error) => panic!("{error}"),
                }
                if member % 50 == 0 {
                    views.flush_due().await.unwrap();
                }
            }
            counted
        });
    }
    crowd
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_that_race_a_deletion_leave_no_count() {
    let test = TestDb::fresh();
    let views = service(&test, LiveLimits { write_back_views: 3, ..LiveLimits::default() });
    let crowd = crowd(&views);
    for raw in 1..=ARTICLES {
        views.article_deleted(ArticleId::from_raw(raw)).await.unwrap();
    }
    crowd.join_all().await;
    views.flush_all().await.unwrap();
    let store = SqliteViews::new(test.db.clone());
    assert_eq!(store.counted_after(None, 100).await.unwrap(), []);
    assert_eq!(views.unwritten(), 0);
    assert_sound(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_counted_view_is_stored_although_few_articles_may_be_live() {
    let test = TestDb::fresh();
    let views = service(
        &test,
        LiveLimits { write_back_views: 7, articles_max: ARTICLES as usize + 8, ..LiveLimits::default() },
    );
    let counted: u64 = crowd(&views).join_all().await.into_iter().sum();
    assert_eq!(counted, (VIEWERS * ARTICLES) as u64);
    // Others push the first ones out.
    for raw in 1_000..1_100 {
        views.view(ArticleId::from_raw(raw), Viewer::member(MemberId::from_raw(1))).await.unwrap();
    }
    views.flush_all().await.unwrap();
    let store = SqliteViews::new(test.db.clone());
    for raw in 1..=ARTICLES {
        assert_eq!(store.find(ArticleId::from_raw(raw)).await.unwrap(), StoredViews::Count(VIEWERS as u64));
    }
    assert_sound(&test).await;
}

async fn assert_sound(test: &TestDb) {
    let report = madang_sqlite::check(&test.db, CheckOptions { integrity: true, ..CheckOptions::default() }, |_| {})
        .await
        .unwrap();
    assert_eq!(report.findings, []);
}
