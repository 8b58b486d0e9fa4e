//! Scores and their ranking, while a day goes on.

use madang_board::ArticleId;
use madang_hot_article::{COUNT_MAX, Counts, HotChange, Reading};
use madang_kernel::Id;

use super::HotStoreHarness;
use super::site::{Site, TOPIC, change, day, deletion, done, group, likes, pairs, views};

pub(super) async fn an_article_scores_by_its_counts<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    assert_eq!(site.ranking(day(1)).await, []);
    let (likes, comments, views) = (Reading::new(5, 9), Reading::new(7, 3), Reading::new(100, 2));
    let counts = Counts { likes, comments, views, hidden: Reading::default() };
    assert_eq!(site.apply(vec![change(1, counts)]).await.changed, 1);
    let [item] = site.store.top(day(1), 10).await.unwrap()[..] else { panic!("one article") };
    assert_eq!((item.article_id, item.score), (ArticleId::from_raw(1), 129));
    assert_eq!((item.like_count, item.comment_count, item.view_count), (5, 7, 100));
    site.assert_sound().await;
}

pub(super) async fn the_newer_version_of_each_group_wins<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 5, 4)]).await;
    site.apply(vec![views(1, 10, 1)]).await;
    assert_eq!(site.ranking(day(1)).await, [(1, 25)]);
    assert_eq!(site.apply(vec![likes(1, 9, 3)]).await.changed, 0, "an older version comes late");
    assert_eq!(site.ranking(day(1)).await, [(1, 25)]);
    assert_eq!(site.apply(vec![likes(1, 2, 5)]).await.changed, 1, "and a newer one with a smaller count");
    assert_eq!(site.ranking(day(1)).await, [(1, 16)]);
    site.assert_sound().await;
}

pub(super) async fn of_equals_the_earlier_article_comes_first<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    // The same score in different ways, written in an order of its own.
    site.apply(vec![views(30, 6, 1), likes(20, 2, 1), views(50, 7, 1)]).await;
    site.apply(vec![views(10, 6, 1)]).await;
    site.apply(vec![views(40, 6, 1)]).await;
    assert_eq!(site.ranking(day(1)).await, [(50, 7), (10, 6), (20, 6), (30, 6), (40, 6)]);
    assert_eq!(pairs(&site.store.top(day(1), 3).await.unwrap()), [(50, 7), (10, 6), (20, 6)]);
    assert_eq!(site.store.top(day(1), 0).await.unwrap(), []);
}

pub(super) async fn the_eleventh_comes_back_when_a_score_falls<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply((1..=30).map(|article| likes(article, 100 - article as u64, 1)).collect()).await;
    assert!(pairs(&site.store.top(day(1), 10).await.unwrap()).iter().map(|(article, _)| *article).eq(1..=10));
    site.apply(vec![likes(1, 0, 2), likes(5, 1, 2)]).await;
    let top: Vec<_> = site.store.top(day(1), 10).await.unwrap().iter().map(|item| item.article_id.raw()).collect();
    assert_eq!(top, [2, 3, 4, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(site.ranking(day(1)).await.last(), Some(&(5, 3)));
    site.assert_sound().await;
}

pub(super) async fn what_scores_nothing_is_not_listed<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 0, 1), likes(2, 1, 1)]).await;
    assert_eq!(site.ranking(day(1)).await, [(2, 3)]);
    site.apply(vec![likes(2, 0, 2), likes(1, 1, 2)]).await;
    assert_eq!(site.ranking(day(1)).await, [(1, 3)]);
}

pub(super) async fn a_deleted_article_never_comes_back<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 5, 1), likes(2, 4, 1)]).await;
    assert_eq!(site.apply(vec![deletion(1), deletion(3)]).await.changed, 2, "heard of before, or not");
    for version in [2, 1_000] {
        assert_eq!(site.apply(vec![likes(1, 9, version), likes(3, 9, version), views(3, 9, version)]).await.changed, 0);
        assert_eq!(site.ranking(day(1)).await, [(2, 12)]);
    }
    assert_eq!(site.apply(vec![deletion(1)]).await.changed, 0);
    site.assert_sound().await;
}

pub(super) async fn days_do_not_mix<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let tomorrow = |change: HotChange| HotChange { day: day(2), ..change };
    site.apply(vec![likes(1, 1, 1), tomorrow(likes(2, 2, 1)), likes(3, 3, 1)]).await;
    assert_eq!(site.ranking(day(1)).await, [(3, 9), (1, 3)]);
    assert_eq!(site.ranking(day(2)).await, [(2, 6)]);
    site.apply(vec![tomorrow(deletion(2))]).await;
    assert_eq!(site.ranking(day(1)).await, [(3, 9), (1, 3)]);
    assert_eq!(site.ranking(day(2)).await, []);
}

pub(super) async fn applying_again_changes_nothing<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let changes: Vec<_> = (1..=50).map(|article| likes(article, article as u64 % 7, 3)).chain([deletion(60)]).collect();
    let first = site.store.apply(changes.clone(), done(7)).await.unwrap();
    assert_eq!(first.changed, 51);
    let ranking = site.ranking(day(1)).await;
    for _ in 0..2 {
        let again = site.store.apply(changes.clone(), done(7)).await.unwrap();
        assert_eq!((again.changed, again.offsets_stored), (0, first.offsets_stored));
        assert_eq!(site.ranking(day(1)).await, ranking);
    }
    site.assert_sound().await;
}

pub(super) async fn offsets_commit_with_the_changes<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for (offset, stored) in [(3, 3), (10, 10), (4, 10), (11, 11)] {
        // Also when nothing of interest was among the messages.
        let changes = if offset == 10 { Vec::new() } else { vec![likes(1, offset as u64, offset as u64)] };
        let applied = site.store.apply(changes, done(offset)).await.unwrap();
        let kept = site.harness.stored_offset(&group(), TOPIC).await;
        assert_eq!(kept, applied.offsets_stored.then_some(stored), "an offset never goes back");
    }
}

pub(super) async fn the_greatest_counts_are_kept<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let most = Reading::new(u64::MAX, u64::MAX);
    site.apply(vec![
        change(1, Counts { likes: most, comments: most, views: most, hidden: Reading::default() }),
        likes(2, 1, 1),
    ])
    .await;
    assert_eq!(site.ranking(day(1)).await, [(1, 6 * COUNT_MAX), (2, 3)]);
    site.assert_sound().await;
}

pub(super) async fn a_restart_loses_nothing<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let tomorrow = |change: HotChange| HotChange { day: day(2), ..change };
    site.apply(vec![likes(1, 5, 5), likes(2, 4, 1), deletion(3), tomorrow(likes(4, 1, 1))]).await;
    site.store.finalise(day(2)).await.unwrap();
    let Site { mut harness, .. } = site;
    harness.restart().await;
    let site = Site::open(harness).await;
    assert_eq!(site.list(day(1)).await, (vec![(1, 15), (2, 12)], false));
    assert_eq!(site.list(day(2)).await, (vec![(4, 3)], true));
    assert_eq!(site.apply(vec![likes(1, 9, 4), likes(3, 9, 9), tomorrow(likes(4, 2, 2))]).await.changed, 0);
    site.assert_sound().await;
}
