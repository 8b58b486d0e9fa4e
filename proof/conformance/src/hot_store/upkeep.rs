//! Old days are forgotten, and a ranking that went wrong is put right.

use madang_hot_article::{Day, HotChange};

use super::HotStoreHarness;
use super::site::{Site, day, deletion, likes};

fn on(day: Day, change: HotChange) -> HotChange {
    HotChange { day, ..change }
}

pub(super) async fn old_days_are_forgotten_in_slices<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for number in 1..=4 {
        let first = i64::from(number) * 100;
        let mut changes: Vec<_> = (first..first + 25).map(|article| on(day(number), likes(article, 1, 1))).collect();
        changes.push(on(day(number), deletion(first + 50)));
        site.apply(changes).await;
        site.store.finalise(day(number)).await.unwrap();
    }
    let mut calls = 0;
    let mut removed = 0;
    loop {
        let slice = site.store.forget_before(day(3), 10).await.unwrap();
        calls += 1;
        removed += slice.removed;
        if slice.done {
            break;
        }
        assert!(slice.removed > 0, "each call gets somewhere");
    }
    assert!(calls >= 6, "52 articles in slices of 10");
    assert!(removed >= 52);
    for number in 1..=2 {
        assert_eq!(site.list(day(number)).await, (vec![], false));
        assert_eq!(site.ranking(day(number)).await, []);
    }
    for number in 3..=4 {
        let (list, is_final) = site.list(day(number)).await;
        assert_eq!((list.len(), is_final), (20, true));
        assert_eq!(site.ranking(day(number)).await.len(), 25);
    }
    let again = site.store.forget_before(day(3), 10).await.unwrap();
    assert_eq!((again.removed, again.done), (0, true));
    site.assert_sound().await;
}

pub(super) async fn a_rebuild_corrects_every_score<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let changes = (1..=35).map(|article| on(day(1 + (article % 3) as u8), likes(article, article as u64, 1)));
    site.apply(changes.chain([on(day(1), deletion(99))]).collect()).await;
    let before = [site.ranking(day(1)).await, site.ranking(day(2)).await, site.ranking(day(3)).await];
    site.harness.damage_scores().await;
    assert_ne!(site.ranking(day(1)).await, before[0], "the damage shows");
    assert_eq!(site.harness.differences().await.len(), 35, "and is found");
    assert_eq!(rebuild(&site, 10).await, (36, 35));
    let after = [site.ranking(day(1)).await, site.ranking(day(2)).await, site.ranking(day(3)).await];
    assert_eq!(after, before);
    site.assert_sound().await;
}

pub(super) async fn a_rebuild_of_a_sound_ranking_changes_nothing<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    assert_eq!(rebuild(&site, 10).await, (0, 0));
    site.apply((1..=30).map(|article| likes(article, article as u64, 1)).collect()).await;
    for slice in [1, 7, 10, 30, 31] {
        assert_eq!(rebuild(&site, slice).await, (30, 0), "slices of {slice}");
    }
}

/// Rows looked at and corrected, over all slices.
async fn rebuild<H: HotStoreHarness>(site: &Site<H>, slice: usize) -> (u64, u64) {
    let (mut looked_at, mut corrected, mut after) = (0, 0, None);
    loop {
        let answer = site.store.rebuild_ranking(after, slice).await.unwrap();
        assert!(answer.looked_at <= slice as u64);
        looked_at += answer.looked_at;
        corrected += answer.corrected;
        after = answer.next;
        if after.is_none() {
            return (looked_at, corrected);
        }
    }
}
