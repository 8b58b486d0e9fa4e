//! The end of a day: its list stays as it was, but for deletions.

use std::sync::Arc;

use madang_hot_article::LISTED_MAX;
use tokio::task::JoinSet;

use super::HotStoreHarness;
use super::site::{Site, day, deletion, done, hidden, likes, pairs};

pub(super) async fn a_final_list_is_not_changed_by_late_counts<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 5, 1), likes(2, 4, 1)]).await;
    assert_eq!(site.list(day(1)).await, (vec![(1, 15), (2, 12)], false));
    assert!(site.store.finalise(day(1)).await.unwrap());
    assert_eq!(site.apply(vec![likes(2, 50, 2), likes(3, 99, 1), likes(1, 0, 2)]).await.changed, 0);
    assert_eq!(site.list(day(1)).await, (vec![(1, 15), (2, 12)], true));
    assert_eq!(site.ranking(day(1)).await, [(1, 15), (2, 12)], "the scores stand still too");
    assert!(site.store.is_final(day(1)).await.unwrap());
    assert!(!site.store.is_final(day(2)).await.unwrap());
    site.assert_sound().await;
}

pub(super) async fn a_final_list_keeps_twenty<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply((1..=50).map(|article| likes(article, article as u64 / 2, 1)).collect()).await;
    let best = pairs(&site.store.top(day(1), LISTED_MAX).await.unwrap());
    assert_eq!((best.len(), best[0], best[1], best[19]), (LISTED_MAX, (50, 75), (48, 72), (30, 45)));
    assert_eq!(site.list(day(1)).await, (best.clone(), false));
    site.store.finalise(day(1)).await.unwrap();
    assert_eq!(site.list(day(1)).await, (best, true));
    site.assert_sound().await;
}

pub(super) async fn finalising_again_changes_nothing<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply((1..=25).map(|article| likes(article, article as u64, 1)).collect()).await;
    assert!(site.store.finalise(day(1)).await.unwrap());
    site.apply(vec![deletion(25)]).await;
    let list = site.list(day(1)).await;
    assert_eq!(list.0.len(), LISTED_MAX - 1);
    assert!(!site.store.finalise(day(1)).await.unwrap());
    assert_eq!(site.list(day(1)).await, list);
    site.assert_sound().await;
}

pub(super) async fn a_deletion_leaves_a_final_list<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply((1..=25).map(|article| likes(article, article as u64, 1)).collect()).await;
    site.store.finalise(day(1)).await.unwrap();
    // One of the list, one below it, one that nobody has heard of.
    assert_eq!(site.apply(vec![deletion(24), deletion(2), deletion(99)]).await.changed, 3);
    assert_eq!(site.apply(vec![likes(24, 50, 9), likes(99, 50, 9)]).await.changed, 0);
    let (list, is_final) = site.list(day(1)).await;
    let articles: Vec<_> = list.iter().map(|(article, _)| *article).collect();
    assert!(is_final);
    assert_eq!(articles, [25, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6]);
    site.assert_sound().await;
    site.apply((1..=25).map(deletion).collect()).await;
    assert_eq!(site.list(day(1)).await, (vec![], true));
    site.assert_sound().await;
}

pub(super) async fn a_deletion_before_the_end_lets_the_next_in<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply((1..=25).map(|article| likes(article, article as u64, 1)).collect()).await;
    site.apply(vec![deletion(24)]).await;
    site.store.finalise(day(1)).await.unwrap();
    let (list, _) = site.list(day(1)).await;
    assert_eq!((list.len(), list[0], list[1], list[19]), (LISTED_MAX, (25, 75), (23, 69), (5, 15)));
}

pub(super) async fn a_day_without_scores_has_an_empty_final_list<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    assert!(site.store.finalise(day(1)).await.unwrap());
    assert_eq!(site.apply(vec![likes(1, 1, 1)]).await.changed, 0);
    assert_eq!(site.list(day(1)).await, (vec![], true));
    site.assert_sound().await;
}

pub(super) async fn lists_come_in_the_order_asked<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for number in 1..=7 {
        let mut change = likes(i64::from(number), 10, 1);
        change.day = day(number);
        site.apply(vec![change]).await;
        if number < 4 {
            site.store.finalise(day(number)).await.unwrap();
        }
    }
    assert_eq!(site.store.lists(vec![]).await.unwrap(), []);
    let lists = site.store.lists([7, 2, 4, 9].map(day).to_vec()).await.unwrap();
    let found: Vec<_> = lists.iter().map(|list| (list.date, list.is_final, pairs(&list.items))).collect();
    let expected = [
        (day(7), false, vec![(7, 30)]),
        (day(2), true, vec![(2, 30)]),
        (day(4), false, vec![(4, 30)]),
        (day(9), false, vec![]),
    ];
    assert_eq!(found, expected);
}

pub(super) async fn counts_that_race_the_end_are_in_the_list_or_nowhere<H: HotStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut writers = JoinSet::new();
    for writer in 0..8i64 {
        let site = Arc::clone(&site);
        writers.spawn(async move {
            for version in 1..=40u64 {
                let mine = (1..=30).filter(|article| article % 8 == writer);
                let changes = mine.map(|article| likes(article, version + article as u64, version)).collect();
                site.store.apply(changes, done(0)).await.unwrap();
            }
        });
    }
    let ender = Arc::clone(&site);
    writers.spawn(async move {
        while ender.ranking(day(1)).await.len() < 20 {
            tokio::task::yield_now().await;
        }
        assert!(ender.store.finalise(day(1)).await.unwrap());
    });
    writers.join_all().await;
    let (list, is_final) = site.list(day(1)).await;
    assert!(is_final);
    assert_eq!(list, site.ranking(day(1)).await[..LISTED_MAX]);
    site.assert_sound().await;
}

pub(super) async fn what_is_removed_is_listed_again_with_its_counts_once_restored<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 5, 1), likes(2, 4, 1), likes(3, 3, 1)]).await;
    site.apply(vec![hidden(1, true, 2), likes(1, 6, 2)]).await;
    assert_eq!(site.ranking(day(1)).await, [(2, 12), (3, 9)]);
    site.apply(vec![hidden(1, false, 3), hidden(1, true, 2)]).await;
    assert_eq!(site.ranking(day(1)).await, [(1, 18), (2, 12), (3, 9)], "no count was lost, and nothing late hides it");
    site.store.finalise(day(1)).await.unwrap();
    site.apply(vec![hidden(2, true, 2), likes(2, 9, 9)]).await;
    assert_eq!(site.list(day(1)).await, (vec![(1, 18), (3, 9)], true));
    site.assert_sound().await;
    site.apply(vec![hidden(2, false, 3)]).await;
    assert_eq!(site.list(day(1)).await, (vec![(1, 18), (2, 12), (3, 9)], true), "as it stood when the day ended");
    site.apply(vec![hidden(2, true, 4), deletion(2)]).await;
    assert_eq!(site.list(day(1)).await, (vec![(1, 18), (3, 9)], true));
    site.apply(vec![hidden(2, false, 5)]).await;
    assert_eq!(site.list(day(1)).await, (vec![(1, 18), (3, 9)], true), "an end is an end");
    site.assert_sound().await;
}
