//! What every [`LiveViews`] must do: count each viewer once in ten minutes, lose no count, never go back.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use madang_board::{ArticleId, MemberId};
use madang_kernel::{Id, Timestamp};
use madang_view::{GuestKey, LiveLimits, LiveView, LiveViews, StoredViews, Viewer, WrittenBack};
use tokio::task::JoinSet;

/// An adapter under test.
pub trait LiveViewsHarness: Send + Sync + Sized + 'static {
    /// Live counts of its own with [`LiveLimits::default`], none of them live.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The live counts.
    fn live(&self) -> Arc<dyn LiveViews>;
    /// Lets time pass: what the cases hand in as `now`, and whatever the adapter reads by itself.
    fn pass(&self, span: Duration) -> impl Future<Output = ()> + Send;
    /// The moment by that clock.
    fn now(&self) -> Timestamp;
}

fn id(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn viewer(raw: i64) -> Viewer {
    Viewer::member(MemberId::from_raw(raw))
}

fn written(article: i64, stored: u64) -> WrittenBack {
    WrittenBack { article_id: id(article), stored: StoredViews::Count(stored) }
}

async fn view<H: LiveViewsHarness>(harness: &H, article: i64, by: i64) -> LiveView {
    harness.live().view(id(article), viewer(by), harness.now()).await.unwrap()
}

async fn insert<H: LiveViewsHarness>(harness: &H, article: i64, stored: u64) -> Option<u64> {
    harness.live().insert(&[(id(article), stored)], harness.now()).await.unwrap()[0]
}

async fn count<H: LiveViewsHarness>(harness: &H, article: i64) -> Option<u64> {
    harness.live().counts(&[id(article)]).await.unwrap()[0]
}

async fn due<H: LiveViewsHarness>(harness: &H, all: bool) -> BTreeMap<i64, u64> {
    let due = harness.live().due(harness.now(), all).await.unwrap();
    due.into_iter().map(|(article, count)| (article.raw(), count)).collect()
}

async fn note<H: LiveViewsHarness>(harness: &H, answers: &[WrittenBack]) {
    harness.live().note_written(answers, harness.now()).await.unwrap();
}

fn counted(view: LiveView) -> u64 {
    match view {
        LiveView::Counted { count, .. } => count,
        other => panic!("{other:?}"),
    }
}

suite! { $ live_views_suite, live_views, LiveViewsHarness;
    /// An article that is not live counts nothing, and remembers nobody.
    async fn what_is_not_live_says_so_and_remembers_nobody(harness) {
        assert_eq!(view(&harness, 1, 1).await, LiveView::NotLive);
        assert_eq!(count(&harness, 1).await, None);
        assert!(due(&harness, true).await.is_empty());
        assert_eq!(insert(&harness, 1, 7).await, Some(7));
        assert_eq!(counted(view(&harness, 1, 1).await), 8);
    }

    /// The window starts with the view that counted, and is not prolonged by others.
    async fn a_viewer_counts_once_in_ten_minutes(harness) {
        insert(&harness, 1, 0).await;
        assert_eq!(counted(view(&harness, 1, 1).await), 1);
        assert_eq!(view(&harness, 1, 1).await, LiveView::Seen { count: 1 });
        harness.pass(Duration::from_millis(599_000)).await;
        assert_eq!(view(&harness, 1, 1).await, LiveView::Seen { count: 1 });
        harness.pass(Duration::from_millis(1_000)).await;
        assert_eq!(counted(view(&harness, 1, 1).await), 2);
        assert_eq!(view(&harness, 1, 1).await, LiveView::Seen { count: 2 });
    }

    /// One address is many browsers: of a network so many guests count, on each article, in each window; members all do.
    async fn of_one_network_fifty_guests_count_on_an_article_within_ten_minutes(harness) {
        let key = GuestKey::new([1; 32]);
        let counted = async |article: i64, from: &str, browsers: std::ops::Range<u32>| {
            let mut counted = 0;
            for browser in browsers {
                let guest = key.guest(from.parse().unwrap(), browser.to_string().as_bytes());
                let view = harness.live().view(id(article), guest, harness.now()).await.unwrap();
                counted += u32::from(matches!(view, LiveView::Counted { .. }));
            }
            counted
        };
        insert(&harness, 1, 0).await;
        insert(&harness, 2, 0).await;
        assert_eq!(counted(1, "192.0.2.1", 0..700).await, 50, "of 700 user agents of one address");
        assert_eq!(count(&harness, 1).await, Some(50));
        assert_eq!(counted(2, "192.0.2.1", 0..60).await, 50, "another article has its own");
        assert_eq!(counted(1, "192.0.2.2", 0..3).await, 3, "and so has another address");
        assert_eq!(counted(1, "2001:db8::1", 0..30).await, 30);
        assert_eq!(counted(1, "2001:db8::2", 0..30).await, 20, "one house is one network");
        for member in 1..=60 {
            assert!(matches!(view(&harness, 1, member).await, LiveView::Counted { .. }), "members are themselves");
        }
        harness.pass(Duration::from_millis(600_000)).await;
        assert_eq!(counted(1, "192.0.2.1", 650..760).await, 50, "in the next window they count again");
    }

    /// Nobody is taken for somebody else.
    async fn viewers_and_articles_are_told_apart(harness) {
        for article in 1..=20 {
            insert(&harness, article, 0).await;
            for by in 1..=20 {
                assert_eq!(counted(view(&harness, article, by).await), by as u64);
            }
        }
        for article in 1..=20 {
            assert_eq!(view(&harness, article, 7).await, LiveView::Seen { count: 20 });
        }
    }

    /// An article may be loaded by several at once, and by somebody who knows less.
    async fn the_greater_of_live_and_stored_stays(harness) {
        assert_eq!(insert(&harness, 1, 5).await, Some(5));
        assert_eq!(counted(view(&harness, 1, 1).await), 6);
        assert_eq!(insert(&harness, 1, 3).await, Some(6));
        assert_eq!(insert(&harness, 1, 9).await, Some(9));
        assert_eq!(counted(view(&harness, 1, 2).await), 10);
        assert_eq!(due(&harness, true).await, BTreeMap::from([(1, 10)]));
    }

    /// The view that makes an article due says so.
    async fn a_hundred_views_are_due_at_once(harness) {
        insert(&harness, 1, 7).await;
        insert(&harness, 2, 0).await;
        view(&harness, 2, 1).await;
        for by in 1..=99 {
            assert!(matches!(view(&harness, 1, by).await, LiveView::Counted { is_due: false, .. }));
        }
        assert!(due(&harness, false).await.is_empty());
        assert_eq!(view(&harness, 1, 100).await, LiveView::Counted { count: 107, is_due: true });
        assert_eq!(due(&harness, false).await, BTreeMap::from([(1, 107)]));
        note(&harness, &[written(1, 107)]).await;
        harness.pass(Duration::from_secs(3)).await;
        assert!(due(&harness, false).await.is_empty());
        assert_eq!(due(&harness, true).await, BTreeMap::from([(2, 1)]));
    }

    /// A view is due before the age by which it must be written.
    async fn a_single_view_is_due_in_time(harness) {
        insert(&harness, 1, 0).await;
        view(&harness, 1, 1).await;
        let due_after_ms = LiveLimits::default().due_after_ms();
        assert!(due_after_ms < LiveLimits::default().write_back_ms);
        harness.pass(Duration::from_millis(due_after_ms - 100)).await;
        assert!(due(&harness, false).await.is_empty());
        harness.pass(Duration::from_millis(100)).await;
        assert_eq!(due(&harness, false).await, BTreeMap::from([(1, 1)]));
    }

    /// What is written is clean; what came while it was written is not.
    async fn what_comes_during_a_write_back_is_still_unwritten(harness) {
        insert(&harness, 1, 0).await;
        view(&harness, 1, 1).await;
        let taken_at = harness.now();
        assert_eq!(due(&harness, true).await, BTreeMap::from([(1, 1)]));
        view(&harness, 1, 2).await;
        harness.live().note_written(&[written(1, 1)], taken_at).await.unwrap();
        assert!(due(&harness, false).await.is_empty(), "not yet");
        harness.pass(Duration::from_millis(LiveLimits::default().due_after_ms())).await;
        assert_eq!(due(&harness, false).await, BTreeMap::from([(1, 2)]));
        note(&harness, &[written(1, 2)]).await;
        assert!(due(&harness, true).await.is_empty());
        assert_eq!(count(&harness, 1).await, Some(2), "it stays live");
    }

    /// What was taken and never written is found again.
    async fn what_was_not_written_is_due_again(harness) {
        insert(&harness, 1, 0).await;
        view(&harness, 1, 1).await;
        harness.pass(Duration::from_secs(5)).await;
        assert_eq!(due(&harness, false).await, BTreeMap::from([(1, 1)]));
        assert_eq!(due(&harness, true).await, BTreeMap::from([(1, 1)]));
        harness.pass(Duration::from_secs(5)).await;
        assert_eq!(due(&harness, false).await, BTreeMap::from([(1, 1)]));
    }

    /// The store never goes back, so a live count does not stay below it.
    async fn a_store_that_knows_more_is_right(harness) {
        insert(&harness, 1, 0).await;
        view(&harness, 1, 1).await;
        note(&harness, &[written(1, 50)]).await;
        assert_eq!(count(&harness, 1).await, Some(50));
        assert!(due(&harness, true).await.is_empty());
        assert_eq!(counted(view(&harness, 1, 2).await), 51);
        note(&harness, &[written(1, 3)]).await;
        assert_eq!(due(&harness, true).await, BTreeMap::from([(1, 51)]));
    }

    /// However many there are.
    async fn all_that_is_unwritten_is_found(harness) {
        let articles: Vec<_> = (1..=600).map(|raw| (id(raw), raw as u64)).collect();
        let inserted = harness.live().insert(&articles, harness.now()).await.unwrap();
        assert!(inserted.iter().zip(&articles).all(|(count, (_, stored))| *count == Some(*stored)));
        for raw in 1..=600 {
            view(&harness, raw, 1).await;
        }
        let all: BTreeMap<_, _> = (1..=600).map(|raw| (raw, raw as u64 + 1)).collect();
        assert_eq!(due(&harness, true).await, all);
        let answers: Vec<_> = all.iter().map(|(raw, count)| written(*raw, *count)).collect();
        note(&harness, &answers).await;
        assert!(due(&harness, true).await.is_empty());
    }

    /// A deleted article takes its count along, also what is unwritten.
    async fn what_is_gone_is_forgotten(harness) {
        for article in 1..=3 {
            insert(&harness, article, 0).await;
            view(&harness, article, 1).await;
        }
        note(&harness, &[WrittenBack { article_id: id(1), stored: StoredViews::Gone }]).await;
        harness.live().forget(id(2)).await.unwrap();
        harness.live().forget(id(99)).await.unwrap();
        assert_eq!((count(&harness, 1).await, count(&harness, 2).await), (None, None));
        assert_eq!(due(&harness, true).await, BTreeMap::from([(3, 1)]));
        assert_eq!(view(&harness, 1, 2).await, LiveView::NotLive);
        note(&harness, &[written(2, 5)]).await;
        assert_eq!(count(&harness, 2).await, None, "an answer that comes late makes nothing live");
    }

    /// Counts are told apart by their place.
    async fn counts_come_in_the_order_asked(harness) {
        for article in 1..=5 {
            insert(&harness, article, article as u64 * 10).await;
        }
        let asked = [4, 9, 1, 4, 5].map(id);
        let counts = harness.live().counts(&asked).await.unwrap();
        assert_eq!(counts, [Some(40), None, Some(10), Some(40), Some(50)]);
        assert_eq!(harness.live().counts(&[]).await.unwrap(), []);
    }

    /// Everybody who comes is counted once.
    async fn a_crowd_is_counted_exactly(harness) {
        insert(&harness, 1, 0).await;
        let (mut crowd, now) = (JoinSet::new(), harness.now());
        for by in 1..=400 {
            let live = harness.live();
            crowd.spawn(async move {
                let views = [live.view(id(1), viewer(by), now), live.view(id(1), viewer(by), now)];
                let [one, other] = views;
                let (one, other) = tokio::join!(one, other);
                let is_counted = |view: LiveView| matches!(view, LiveView::Counted { .. });
                is_counted(one.unwrap()) != is_counted(other.unwrap())
            });
        }
        assert!(crowd.join_all().await.into_iter().all(|once| once));
        assert_eq!(count(&harness, 1).await, Some(400));
        assert_eq!(due(&harness, true).await, BTreeMap::from([(1, 400)]));
    }
}
