//! What the view service promises, over a store in memory that can be away.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use madang_board::{BoardId, MemberId};
use madang_event::{ArticleDeleted, BoardCount, Envelope, Event};
use madang_kernel::{EventId, ManualClock, NodeId, NodeLease};
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Message, Position};

use super::*;
use crate::memory::{MemorySite, MemoryViews};
use crate::{LiveLimits, article_deletions};

const START_MS: i64 = 1_800_000_000_000;

struct Site {
    store: Arc<MemoryViews>,
    articles: Arc<MemorySite>,
    clock: Arc<ManualClock>,
    live: Arc<MemoryLiveViews>,
    views: Arc<ViewService>,
}

impl Site {
    fn new() -> Self {
        Self::over(Arc::default(), LiveLimits::default())
    }

    fn over(store: Arc<MemoryViews>, live: LiveLimits) -> Self {
        let (articles, clock) =
            (Arc::new(MemorySite::default()), Arc::new(ManualClock::at(Timestamp::from_millis(START_MS))));
        let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
        let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
        let config = ViewConfig { window_entries: 1 << 16, live, ..ViewConfig::default() };
        let key = GuestKey::new([1; 32]);
        let live = Arc::new(MemoryLiveViews::new(&config, &key));
        let (clocked, over) = (clock.clone(), live.clone());
        let views = ViewService::over(store.clone(), articles.clone(), ids, clocked, over, config.time_zone);
        Self { store, articles, clock, live, views: Arc::new(views) }
    }

    async fn view(&self, article: i64, member: i64) -> Result<Viewed, ViewError> {
        self.views.view(id(article), Viewer::member(MemberId::from_raw(member))).await
    }

    fn advance_ms(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }

    fn set_away(&self, away: bool) {
        self.store.away.store(away, Ordering::SeqCst);
    }

    fn remove(&self, article: i64) {
        self.articles.0.lock().unwrap().insert(id(article));
    }
}

fn id(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn counted(view_count: u64) -> Viewed {
    Viewed { counted: true, view_count }
}

#[tokio::test]
async fn a_viewer_counts_once_in_ten_minutes() {
    let site = Site::new();
    assert_eq!(site.view(1, 1).await.unwrap(), counted(1));
    assert_eq!(site.view(1, 1).await.unwrap(), Viewed { counted: false, view_count: 1 });
    assert_eq!(site.view(1, 2).await.unwrap(), counted(2));
    assert_eq!(site.views.count(id(1)).await.unwrap(), 2);
    site.advance_ms(600_000);
    assert_eq!(site.view(1, 1).await.unwrap(), counted(3));
}

#[tokio::test]
async fn views_are_written_after_a_hundred() {
    let site = Site::new();
    for member in 1..=99 {
        site.view(1, member).await.unwrap();
    }
    assert_eq!(site.views.flush_due().await.unwrap().articles, 0);
    site.view(1, 100).await.unwrap();
    site.views.wait_until_due().await;
    assert_eq!(site.views.flush_due().await.unwrap().articles, 1);
    assert_eq!(site.store.reported(id(1)), [100]);
}

#[tokio::test]
async fn a_single_view_is_written_and_reported_within_five_seconds() {
    let site = Site::new();
    site.view(1, 1).await.unwrap();
    let mut passed_ms = 0;
    while site.store.reported(id(1)).is_empty() {
        site.views.flush_due().await.unwrap();
        site.advance_ms(crate::FLUSH_STEP_MS);
        passed_ms += crate::FLUSH_STEP_MS;
    }
    assert!(passed_ms <= 5_000, "{passed_ms}");
    assert_eq!(site.views.unwritten(), 0);
}

#[tokio::test]
async fn the_end_of_the_day_writes_everything_back() {
    let site = Site::new();
    let midnight = (START_MS / 86_400_000 + 1) * 86_400_000;
    site.clock.set(Timestamp::from_millis(midnight - 1_500));
    site.view(1, 1).await.unwrap();
    site.views.flush_due().await.unwrap();
    assert!(site.store.reported(id(1)).is_empty());
    site.clock.set(Timestamp::from_millis(midnight - 900));
    site.views.flush_due().await.unwrap();
    assert_eq!(site.store.reported(id(1)), [1]);
    site.view(1, 2).await.unwrap();
    site.clock.set(Timestamp::from_millis(midnight));
    site.views.flush_due().await.unwrap();
    assert_eq!(site.store.reported(id(1)), [1, 2]);
}

#[tokio::test]
async fn a_shutdown_loses_nothing_and_the_next_start_goes_on_from_there() {
    let site = Site::new();
    for article in 1..=600 {
        site.view(article, 1).await.unwrap();
    }
    assert_eq!(site.views.flush_all().await.unwrap().articles, 600);
    assert_eq!(site.views.unwritten(), 0);
    let next = Site::over(site.store.clone(), LiveLimits::default());
    assert_eq!(next.views.count(id(7)).await.unwrap(), 1);
    assert_eq!(next.view(7, 2).await.unwrap(), counted(2));
    assert_eq!(next.views.counts(&[id(8), id(7), id(9_999)]).await.unwrap(), [Some(1), Some(2), Some(0)]);
}

#[tokio::test]
async fn a_failed_write_is_tried_again_and_loses_nothing() {
    let site = Site::new();
    site.view(1, 1).await.unwrap();
    site.set_away(true);
    site.advance_ms(5_000);
    assert!(site.views.flush_due().await.is_err());
    assert_eq!(site.view(1, 2).await.unwrap(), counted(2), "a live article is counted while the store is away");
    assert!(matches!(site.view(2, 1).await, Err(ViewError::Store(_))), "one that is not is not made up");
    site.set_away(false);
    site.views.flush_due().await.unwrap();
    assert_eq!(site.store.stored(id(1)), StoredViews::Count(2));
    assert_eq!(site.view(2, 1).await.unwrap(), counted(1), "a view that failed is not remembered as counted");
}

#[tokio::test]
async fn a_defect_of_one_count_does_not_hold_up_the_others() {
    let site = Site::new();
    for article in 1..=300 {
        site.view(article, 1).await.unwrap();
    }
    *site.store.broken.lock().unwrap() = Some(id(7));
    assert!(matches!(site.views.flush_all().await, Err(StoreError::Broken { .. })));
    assert_eq!(site.views.unwritten(), 1);
    *site.store.broken.lock().unwrap() = None;
    assert_eq!(site.views.flush_all().await.unwrap().articles, 1);
    assert!((1..=300).all(|article| site.store.reported(id(article)) == [1]));
}

#[tokio::test]
async fn more_articles_than_may_be_live_lose_no_view() {
    let site = Site::over(Arc::default(), LiveLimits { articles_max: 8, ..LiveLimits::default() });
    for member in 1..=3 {
        for article in 1..=50 {
            assert_eq!(site.view(article, member).await.unwrap(), counted(member as u64));
        }
    }
    assert!(site.live.live() <= 8);
    site.views.flush_all().await.unwrap();
    assert!((1..=50).all(|article| site.store.stored(id(article)) == StoredViews::Count(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_on_a_cold_article_asks_the_store_once_and_is_counted_whole() {
    let site = Arc::new(Site::new());
    let mut crowd = tokio::task::JoinSet::new();
    for member in 1..=500 {
        let site = Arc::clone(&site);
        crowd.spawn(async move {
            let first = site.view(1, member).await.unwrap().counted;
            first && !site.view(1, member).await.unwrap().counted
        });
    }
    assert!(crowd.join_all().await.into_iter().all(|once| once));
    assert_eq!(site.store.finds.load(Ordering::SeqCst), 1);
    assert_eq!(site.views.count(id(1)).await.unwrap(), 500);
}

#[tokio::test]
async fn what_does_not_exist_has_no_views() {
    let site = Site::new();
    site.remove(1);
    assert!(matches!(site.view(1, 1).await, Err(ViewError::NotFound)));
    assert!(matches!(site.views.count(id(1)).await, Err(ViewError::NotFound)));
}

#[tokio::test]
async fn a_deleted_article_takes_its_views_along_for_good() {
    let site = Site::new();
    site.view(1, 1).await.unwrap();
    site.views.flush_all().await.unwrap();
    site.view(1, 2).await.unwrap();
    let consumer = article_deletions(Arc::clone(&site.views));
    let deletion = deletion(1);
    site.remove(1);
    assert_eq!(consumer.handle(&[deletion.clone(), deletion]).await, [Ok(Handled::Done), Ok(Handled::Done)]);
    site.views.flush_all().await.unwrap();
    assert_eq!((site.store.stored(id(1)), site.store.reported(id(1))), (StoredViews::Gone, vec![1]));
    // Although a cached look-up still knows the article.
    site.articles.0.lock().unwrap().remove(&id(1));
    assert!(matches!(site.view(1, 3).await, Err(ViewError::NotFound)));
    assert!(matches!(site.views.count(id(1)).await, Err(ViewError::NotFound)));
    assert_eq!(site.views.counts(&[id(1)]).await.unwrap(), [None]);
}

#[tokio::test]
async fn a_view_that_races_the_deletion_leaves_nothing() {
    let site = Site::new();
    site.view(1, 1).await.unwrap();
    // The mark is written by another process; this one still holds the live count.
    site.store.mark_article_gone(id(1)).await.unwrap();
    site.view(1, 2).await.unwrap();
    site.views.flush_all().await.unwrap();
    assert_eq!((site.store.stored(id(1)), site.views.unwritten()), (StoredViews::Gone, 0));
    assert!(site.store.reported(id(1)).is_empty());
}

#[tokio::test]
async fn a_store_that_is_away_is_not_the_fault_of_the_event() {
    let site = Site::new();
    site.set_away(true);
    site.remove(1);
    let consumer = article_deletions(Arc::clone(&site.views));
    assert!(matches!(consumer.handle(&[deletion(1)]).await[..], [Err(HandlerError::Outage(_))]));
    let mut nonsense = deletion(1);
    nonsense.message.payload = Bytes::from_static(b"{");
    assert!(matches!(consumer.handle(&[nonsense]).await[..], [Err(HandlerError::Undecodable(_))]));
}

#[tokio::test]
async fn missed_deletions_are_found_by_asking() {
    let site = Site::new();
    for article in 1..=700 {
        site.view(article, 1).await.unwrap();
    }
    site.views.flush_all().await.unwrap();
    for article in [1, 256, 257, 700] {
        site.remove(article);
    }
    article_deletions(Arc::clone(&site.views)).rebuild().await.unwrap();
    let gone = (1..=700).filter(|article| site.store.stored(id(*article)) == StoredViews::Gone);
    assert_eq!(gone.collect::<Vec<_>>(), [1, 256, 257, 700]);
}

fn deletion(article: i64) -> Delivery {
    let board_count = BoardCount { article_count: 0, version: 2 };
    let board_id = BoardId::from_raw(1);
    let deleted = ArticleDeleted { article_id: id(article), board_id, board_count, restorable: false };
    let envelope = Envelope {
        event_id: EventId::from_raw(1),
        occurred_at: Timestamp::from_millis(START_MS),
        key: id(article),
        version: 2,
        event: Event::ArticleDeleted(deleted),
    };
    let message = Message {
        event_id: envelope.event_id,
        topic: envelope.event.topic().name().to_owned(),
        key: envelope.key.to_string(),
        shard: envelope.key.shard(),
        occurred_at: envelope.occurred_at,
        headers: Vec::new(),
        payload: envelope.encode(),
    };
    Delivery { position: Position { topic: message.topic.clone(), partition: 0, offset: 1 }, message }
}
