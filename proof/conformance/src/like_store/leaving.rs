//! The end of an article: nothing new, nothing left, nothing brought back.

use std::sync::Arc;

use madang_board::ArticleId;
use madang_kernel::{EventId, Id, PageSize};
use madang_like::{CleanedUp, LikeCount, LikeOutcome};
use tokio::task::JoinSet;

use super::LikeStoreHarness;
use super::site::{ARTICLE, Site, article};

pub(super) async fn a_marked_article_takes_no_more_likes<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    site.answer(article(), 1, true).await;
    assert!(site.store.mark_article_gone(article()).await.unwrap());
    assert!(!site.store.mark_article_gone(article()).await.unwrap());
    assert_eq!(site.change(article(), 2, true).await, LikeOutcome::Gone);
    assert_eq!(site.change(article(), 1, false).await, LikeOutcome::Gone);
    assert_eq!(site.store.state(article(), None).await.unwrap(), None);
    assert_eq!(site.store.likers(article(), None, PageSize::DEFAULT).await.unwrap(), None);
    assert_eq!(site.events().await.len(), 1);
    site.assert_sound().await;
}

pub(super) async fn a_marked_article_is_cleaned_up_in_slices<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    let other = ArticleId::from_raw(ARTICLE + 1);
    for member in 1..=7 {
        site.answer(article(), member, true).await;
        site.answer(other, member, true).await;
    }
    site.store.mark_article_gone(article()).await.unwrap();
    for (removed, done, left) in [(3, false, Some(4)), (3, false, Some(1)), (1, true, None), (0, true, None)] {
        assert_eq!(site.store.clean_up(article(), 3).await.unwrap(), CleanedUp { removed, done });
        assert_eq!(site.harness.count_and_rows(article()).await, (left, left.unwrap_or(0)));
        site.assert_sound().await;
    }
    assert_eq!(site.change(article(), 1, true).await, LikeOutcome::Gone);
    assert_eq!(site.harness.count_and_rows(other).await, (Some(7), 7));
    assert_eq!(site.events().await.len(), 14, "the deletion of the article says it all");
}

pub(super) async fn what_is_not_marked_is_not_cleaned_up<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    site.answer(article(), 1, true).await;
    assert_eq!(site.store.clean_up(article(), 10).await.unwrap(), CleanedUp { removed: 0, done: true });
    assert_eq!(site.harness.count_and_rows(article()).await, (Some(1), 1));
}

pub(super) async fn an_article_that_was_never_gone_counts_what_is_left<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    let other = ArticleId::from_raw(ARTICLE + 1);
    for member in 1..=4 {
        site.answer(article(), member, true).await;
    }
    for marked in [article(), other] {
        site.store.mark_article_gone(marked).await.unwrap();
    }
    assert_eq!(site.store.gone_articles(None, PageSize::DEFAULT).await.unwrap(), [article(), other]);
    assert_eq!(site.store.gone_articles(Some(article()), PageSize::DEFAULT).await.unwrap(), [other]);
    // Some were removed before anybody noticed.
    site.store.clean_up(article(), 3).await.unwrap();
    site.store.restore_article(article(), EventId::from_raw(1 << 30)).await.unwrap();
    site.store.restore_article(article(), EventId::from_raw((1 << 30) + 1)).await.unwrap();
    assert_eq!(site.store.gone_articles(None, PageSize::DEFAULT).await.unwrap(), [other]);
    let [Some(LikeCount { like_count: 1, version }), None] =
        site.store.counts(vec![article(), other]).await.unwrap()[..]
    else {
        panic!("the one that is left counts")
    };
    assert!(version > 4, "{version} is above every version before");
    let events = site.events().await;
    let (last, likes) = events.last().unwrap();
    assert_eq!((events.len(), last.version, likes.like_count), (5, version, 1), "told once");
    let committed = site.answer(article(), 9, true).await.committed;
    assert_eq!(committed, LikeCount { like_count: 2, version: version + 1 });
    // All of them were removed, and the counter with them.
    site.store.mark_article_gone(article()).await.unwrap();
    site.store.clean_up(article(), 100).await.unwrap();
    site.store.restore_article(article(), EventId::from_raw((1 << 30) + 2)).await.unwrap();
    let counts = site.store.counts(vec![article()]).await.unwrap();
    assert_eq!(counts, [Some(LikeCount { like_count: 0, version: version + 2 })]);
    site.assert_sound().await;
}

pub(super) async fn likes_that_race_the_mark_leave_no_orphan<H: LikeStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness));
    let mut callers = JoinSet::new();
    for caller in 0..16 {
        let site = Arc::clone(&site);
        callers.spawn(async move {
            let mut member = caller * 1_000_000;
            // Goes on until the store says that the article is gone.
            while site.change(article(), member + 1, true).await != LikeOutcome::Gone {
                member += 1;
            }
        });
    }
    while site.store.counts(vec![article()]).await.unwrap()[0].unwrap().like_count < 50 {
        tokio::task::yield_now().await;
    }
    site.store.mark_article_gone(article()).await.unwrap();
    while !site.store.clean_up(article(), 20).await.unwrap().done {}
    callers.join_all().await;
    assert_eq!(site.harness.count_and_rows(article()).await, (None, 0));
    site.assert_sound().await;
}
