//! Live counts in Redis over a durable store: they outlive the process that counted, and Redis itself.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_board::{ArticleFacts, ArticleId, ArticleLookup, BoardId, CommentMode, MemberId};
use madang_engine_redis::Redis;
use madang_kernel::{Clock, Id, IdGenerator, ManualClock, NodeId, NodeLease, StoreError, Timestamp};
use madang_redis::RedisLiveViews;
use madang_sqlite::{Sqlite, SqliteOptions, SqliteViews};
use madang_view::{GuestKey, LiveLimits, LiveViews, StoredViews, ViewConfig, ViewService, ViewStore, Viewed, Viewer};

use crate::own_server::OwnServer;
use crate::support::{OneServer, TestRedis, ThreeNodes, eventually};

const NOW_MS: i64 = 1_800_000_000_000;

fn live(redis: &Redis) -> RedisLiveViews {
    RedisLiveViews::new(redis.clone(), GuestKey::new([1; 32]), LiveLimits::default())
}

fn id(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn viewer(raw: i64) -> Viewer {
    Viewer::member(MemberId::from_raw(raw))
}

/// Every article exists.
struct AllExist;

#[async_trait]
impl ArticleLookup for AllExist {
    async fn facts(&self, _: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        Ok(Some(ArticleFacts { board_id: BoardId::from_raw(1), comment_mode: CommentMode::Tree, archived: false }))
    }
}

/// A store that several processes share.
struct Site {
    db: Sqlite,
    clock: Arc<ManualClock>,
    _directory: tempfile::TempDir,
}

impl Site {
    fn fresh() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
        let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), clock.clone()).unwrap();
        Self { db, clock, _directory: directory }
    }

    /// A process with this node number.
    fn process(&self, redis: &Redis, node: u8) -> ViewService {
        let lease = NodeLease { node: NodeId(node), from_ms: 0, until_ms: i64::MAX };
        let ids = Arc::new(IdGenerator::new(self.clock.clone(), lease));
        let store = Arc::new(SqliteViews::new(self.db.clone()));
        let zone = ViewConfig::default().time_zone;
        ViewService::over(store, Arc::new(AllExist), ids, self.clock.clone(), Arc::new(live(redis)), zone)
    }

    async fn stored(&self, article: i64) -> StoredViews {
        SqliteViews::new(self.db.clone()).find(id(article)).await.unwrap()
    }
}

fn counted(view_count: u64) -> Viewed {
    Viewed { counted: true, view_count }
}

#[tokio::test]
async fn processes_share_counts_and_windows() {
    for test in [TestRedis::fresh::<OneServer>().await, TestRedis::fresh::<ThreeNodes>().await] {
        let site = Site::fresh();
        let (one, other) = (site.process(&test.redis, 1), site.process(&test.another().await, 2));
        assert_eq!(one.view(id(1), viewer(1)).await.unwrap(), counted(1));
        assert_eq!(other.view(id(1), viewer(1)).await.unwrap(), Viewed { counted: false, view_count: 1 });
        assert_eq!(other.view(id(1), viewer(2)).await.unwrap(), counted(2));
        assert_eq!(one.count(id(1)).await.unwrap(), 2);
        assert_eq!(one.counts(&[id(2), id(1)]).await.unwrap(), [Some(0), Some(2)]);
    }
}

#[tokio::test]
async fn what_a_process_counted_before_it_died_is_written_by_another() {
    let test = TestRedis::fresh::<ThreeNodes>().await;
    let site = Site::fresh();
    let (one, other) = (site.process(&test.redis, 1), site.process(&test.another().await, 2));
    for article in 1..=50 {
        one.view(id(article), viewer(1)).await.unwrap();
    }
    site.clock.advance(Duration::from_millis(4_000));
    // The first takes them to be written, and dies.
    let taken = live(&test.redis).due(site.clock.now(), false).await.unwrap();
    assert_eq!(taken.len(), 50);
    drop(one);
    assert_eq!(other.flush_due().await.unwrap().articles, 0, "somebody has them in hand");
    site.clock.advance(Duration::from_millis(2_000));
    assert_eq!(other.flush_due().await.unwrap().articles, 50);
    assert_eq!((site.stored(1).await, site.stored(50).await), (StoredViews::Count(1), StoredViews::Count(1)));
}

#[tokio::test]
async fn two_processes_that_write_back_do_not_do_it_twice() {
    let test = TestRedis::fresh::<OneServer>().await;
    let site = Site::fresh();
    let (one, other) = (site.process(&test.redis, 1), site.process(&test.another().await, 2));
    for article in 1..=300 {
        one.view(id(article), viewer(1)).await.unwrap();
    }
    site.clock.advance(Duration::from_millis(4_000));
    let (one, other) = tokio::join!(one.flush_due(), other.flush_due());
    assert_eq!(one.unwrap().articles + other.unwrap().articles, 300);
}

#[tokio::test]
async fn counts_come_back_from_the_store_after_redis_lost_everything() {
    for test in [TestRedis::fresh::<OneServer>().await, TestRedis::fresh::<ThreeNodes>().await] {
        let site = Site::fresh();
        let views = site.process(&test.redis, 1);
        for member in 1..=7 {
            views.view(id(1), viewer(member)).await.unwrap();
        }
        views.flush_all().await.unwrap();
        views.view(id(1), viewer(8)).await.unwrap();
        test.lose_everything().await;
        assert_eq!(views.count(id(1)).await.unwrap(), 7, "never below what was written");
        assert_eq!(views.view(id(1), viewer(9)).await.unwrap(), counted(8));
        views.flush_all().await.unwrap();
        assert_eq!(site.stored(1).await, StoredViews::Count(8));
    }
}

#[tokio::test]
async fn while_redis_is_away_nothing_is_counted_and_what_is_stored_is_told() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let redis = Redis::connect(&server.options()).await.unwrap();
    let site = Site::fresh();
    let views = site.process(&redis, 1);
    for member in 1..=3 {
        views.view(id(1), viewer(member)).await.unwrap();
    }
    views.flush_all().await.unwrap();
    server.kill();
    let uncounted = Viewed { counted: false, view_count: 3 };
    assert_eq!(views.view(id(1), viewer(4)).await.unwrap(), uncounted);
    assert_eq!(views.count(id(1)).await.unwrap(), 3);
    assert_eq!(views.counts(&[id(1), id(2)]).await.unwrap(), [Some(3), Some(0)]);
    assert!(matches!(views.flush_due().await, Err(StoreError::Unavailable { .. })));
    server.start().await;
    eventually("views count again", || async { views.view(id(1), viewer(4)).await.unwrap() == counted(4) }).await;
}
