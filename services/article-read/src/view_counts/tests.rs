//! Fresh counts at once, old ones while one refresh runs, none made up, and never fewer than before.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use madang_kernel::ManualClock;
use madang_messaging::{OnError, Supervisor};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::*;

/// An owner that can be slow or away, and counts who asks.
struct Views {
    count: AtomicU64,
    gone: AtomicBool,
    away: AtomicBool,
    loads: AtomicUsize,
    gate: Semaphore,
}

#[async_trait]
impl ViewOwner for Views {
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        let _passed = self.gate.acquire().await.unwrap();
        if self.away.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("views", "away"));
        }
        let count = (!self.gone.load(Ordering::SeqCst)).then(|| self.count.load(Ordering::SeqCst));
        Ok(vec![count; articles.len()])
    }
}

struct Site {
    views: Arc<Views>,
    clock: Arc<ManualClock>,
    counts: Arc<ViewCounts>,
    _supervisor: Supervisor,
}

/// A site with an open gate.
fn site() -> Site {
    let views = Arc::new(Views {
        count: AtomicU64::new(10),
        gone: AtomicBool::new(false),
        away: AtomicBool::new(false),
        loads: AtomicUsize::new(0),
        gate: Semaphore::new(1_000),
    });
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
    let (counts, loads) = ViewCounts::new(Arc::clone(&views) as _, Arc::clone(&clock) as _);
    let (supervisor, loads) = (Supervisor::new("test"), Arc::new(loads));
    supervisor.spawn("loads", OnError::Restart, move |stop| {
        let loads = Arc::clone(&loads);
        async move {
            loads.run(&stop).await;
            Ok::<(), String>(())
        }
    });
    Site { views, clock, counts: Arc::new(counts), _supervisor: supervisor }
}

fn article() -> ArticleId {
    ArticleId::from_raw(77)
}

impl Site {
    async fn count(&self) -> Option<u64> {
        self.counts.counts(&[article()]).await.unwrap()[0]
    }

    fn pass(&self, ms: i64) {
        self.clock.advance(Duration::from_millis(ms as u64));
    }

    fn loads(&self) -> usize {
        self.views.loads.load(Ordering::SeqCst)
    }

    async fn readers(&self) -> JoinSet<Option<u64>> {
        let mut readers = JoinSet::new();
        for _ in 0..512 {
            let counts = Arc::clone(&self.counts);
            readers.spawn(async move { counts.counts(&[article()]).await.unwrap()[0] });
        }
        self.settle().await;
        readers
    }

    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// Closes the gate: whatever asks the owner waits.
    async fn closed(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.views.gate.acquire_many(1_000).await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_fresh_count_asks_nobody() {
    let site = site();
    assert_eq!(site.count().await, Some(10));
    site.views.count.store(11, Ordering::SeqCst);
    site.pass(VIEW_FRESH_MS - 1);
    assert_eq!((site.count().await, site.loads()), (Some(10), 1));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_on_an_old_count_causes_one_refresh_and_does_not_wait() {
    let site = site();
    site.count().await;
    site.views.count.store(11, Ordering::SeqCst);
    site.pass(VIEW_FRESH_MS);
    let gate = site.closed().await;
    assert_eq!(site.readers().await.join_all().await, vec![Some(10); 512], "answered while the owner is asked");
    assert_eq!(site.loads(), 2);
    drop(gate);
    site.settle().await;
    assert_eq!((site.count().await, site.loads()), (Some(11), 2));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_on_no_count_or_one_that_is_over_shares_one_load() {
    let site = site();
    for loads in 1..=2 {
        let gate = site.closed().await;
        let readers = site.readers().await;
        assert_eq!(site.loads(), loads);
        drop(gate);
        assert_eq!(readers.join_all().await, vec![Some(9 + loads as u64); 512]);
        assert_eq!(site.loads(), loads);
        site.views.count.store(11, Ordering::SeqCst);
        site.pass(VIEW_TTL_MS);
    }
}

#[tokio::test(start_paused = true)]
async fn views_never_fall() {
    let site = site();
    assert_eq!(site.count().await, Some(10));
    site.views.count.store(3, Ordering::SeqCst);
    site.pass(VIEW_TTL_MS);
    assert_eq!(site.count().await, Some(10));
}

#[tokio::test(start_paused = true)]
async fn a_deleted_article_has_no_views() {
    let site = site();
    assert_eq!(site.count().await, Some(10));
    site.views.gone.store(true, Ordering::SeqCst);
    site.pass(VIEW_TTL_MS);
    assert_eq!(site.count().await, None);
}

#[tokio::test(start_paused = true)]
async fn with_the_owner_away_the_last_known_count_stands_and_an_unknown_one_fails() {
    let site = site();
    site.views.away.store(true, Ordering::SeqCst);
    assert!(site.counts.counts(&[article()]).await.is_err(), "unknown is not zero");
    site.views.away.store(false, Ordering::SeqCst);
    assert_eq!(site.count().await, Some(10), "the failure was not kept");
    site.views.away.store(true, Ordering::SeqCst);
    site.pass(10 * VIEW_TTL_MS);
    assert_eq!(site.count().await, Some(10));
    assert!(site.counts.counts(&[article(), ArticleId::from_raw(78)]).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_steps_back_makes_no_count_last() {
    let site = site();
    site.count().await;
    site.views.count.store(11, Ordering::SeqCst);
    site.clock.set(Timestamp::from_millis(1_000_000));
    assert_eq!(site.count().await, Some(10));
    site.settle().await;
    assert_eq!(site.count().await, Some(11));
}

#[tokio::test(start_paused = true)]
async fn counts_that_are_kept_are_bounded() {
    let site = site();
    for start in (0..2 * VIEW_COUNTS_MAX as i64).step_by(256) {
        let articles: Vec<_> = (start + 1..=start + 256).map(ArticleId::from_raw).collect();
        site.counts.counts(&articles).await.unwrap();
    }
    let kept: usize = site.counts.cache.parts.iter().map(|part| part.lock().unwrap().len()).sum();
    assert!(kept <= VIEW_COUNTS_MAX, "{kept}");
    assert!(kept > VIEW_COUNTS_MAX / 2, "{kept}");
}

#[tokio::test(start_paused = true)]
async fn the_first_reader_of_a_new_article_asks_nobody() {
    let site = site();
    site.counts.note_new(article());
    assert_eq!((site.count().await, site.loads()), (Some(0), 0));
    site.pass(VIEW_TTL_MS);
    assert_eq!((site.count().await, site.loads()), (Some(10), 1), "believed for as long as any other");
    site.counts.note_new(article());
    assert_eq!(site.count().await, Some(10), "a creation heard late takes nothing back");
}
