//! Articles and events about them.

use madang_article_read::{ListLookup, Lookup, ModelSize, Step};
use madang_kernel::{Id, ShardId};

use super::ReadModelHarness;
use super::site::{
    Site, article, commented, created, deleted, edited, entry, kept, liked, lock_changed, newest, page, raws, restored,
    seen,
};

pub(super) async fn what_nobody_told_is_a_miss<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    assert_eq!(site.model.find(&[]).await.unwrap(), vec![]);
    assert_eq!(site.model.find(&[article(1), article(2)]).await.unwrap(), vec![Lookup::Miss, Lookup::Miss]);
    assert_eq!(site.model.size().await.unwrap().entries, 0);
}

pub(super) async fn articles_are_found_in_the_order_asked<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    for raw in 1..=40 {
        site.fill(raw, Some((raw as u64, 0, 0))).await;
    }
    let asked: Vec<_> = [40, 3, 41, 3, 17].map(article).to_vec();
    let found = site.model.find(&asked).await.unwrap();
    let versions: Vec<_> = found
        .iter()
        .map(|look| match look {
            Lookup::Found { entry, .. } => entry.live().map(|text| (text.head.article_id.raw(), text.head.version)),
            Lookup::Miss | Lookup::Absent => None,
        })
        .collect();
    assert_eq!(versions, vec![Some((40, 40)), Some((3, 3)), None, Some((3, 3)), Some((17, 17))]);
}

pub(super) async fn a_lock_is_merged_with_the_comments_and_kept_by_a_rebuild<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((1, 10, 0))).await;
    let is_locked = async || match site.model.find(&[article(5)]).await.unwrap().pop() {
        Some(Lookup::Found { entry, .. }) => entry.comments.map(|comments| (comments.count, comments.locked)),
        other => panic!("{other:?}"),
    };
    site.merge([lock_changed(5, true, 12)]).await;
    assert_eq!(is_locked().await, Some((10, true)));
    site.merge([commented(5, 11)]).await;
    assert_eq!(is_locked().await, Some((10, true)), "a comment from before the lock opens nothing");
    // What the owners told before the lock was set comes late.
    site.fill(5, Some((1, 11, 0))).await;
    assert_eq!(is_locked().await, Some((10, true)));
    site.merge([lock_changed(5, false, 13), lock_changed(5, true, 12)]).await;
    assert_eq!(is_locked().await, Some((10, false)));
}

pub(super) async fn events_are_merged_by_version<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((3, 10, 20))).await;
    site.merge([edited(1, 5, 2, 1), commented(5, 9), liked(5, 20)]).await;
    assert_eq!(site.seen(5).await, Some((3, 10, 20)), "nothing of it is newer");
    site.merge([edited(1, 5, 4, 1)]).await;
    assert_eq!(site.seen(5).await, Some((4, 10, 20)));
    site.merge([commented(5, 11), liked(5, 25), liked(5, 22)]).await;
    assert_eq!(site.seen(5).await, Some((4, 11, 25)));
    site.merge([deleted(1, 5, 2)]).await;
    assert_eq!(site.seen(5).await, None);
    site.merge([liked(5, 30), edited(1, 5, 6, 1)]).await;
    assert_eq!(site.seen(5).await, None);
}

pub(super) async fn an_event_alone_brings_nothing_in<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.merge([created(1, 5, 1), edited(1, 5, 2, 1), commented(5, 1), liked(5, 1), deleted(1, 6, 2)]).await;
    assert!(site.is_missing(5).await && site.is_missing(6).await);
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
}

pub(super) async fn a_redelivered_creation_resets_and_revives_nothing<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((1, 10, 20))).await;
    site.merge([created(1, 5, 1)]).await;
    assert_eq!(site.seen(5).await, Some((1, 10, 20)));
    site.merge([deleted(1, 5, 2)]).await;
    site.merge([created(1, 5, 1)]).await;
    assert_eq!(site.seen(5).await, None);
}

pub(super) async fn what_is_restored_is_shown_and_an_older_deletion_changes_nothing<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((1, 10, 20))).await;
    site.merge([deleted(1, 5, 2)]).await;
    assert_eq!(site.seen(5).await, None);
    site.merge([restored(1, 5, 3)]).await;
    assert_eq!(site.seen(5).await, Some((1_000_001, 10, 20)), "with what was counted all the time");
    site.merge([deleted(1, 5, 2), created(1, 5, 1)]).await;
    assert_eq!(site.seen(5).await, Some((1_000_001, 10, 20)));
    // The other way round, and into a rebuild.
    let reservation = site.model.reserve(&[article(6)]).await.unwrap();
    site.merge([restored(1, 6, 3), deleted(1, 6, 2)]).await;
    let told = vec![(article(6), Some(entry(6, (1, 1, 2))))];
    let filled = site.model.fill(reservation, told).await.unwrap();
    assert_eq!(kept(&filled[0]), Some((1_000_001, 1, 2)));
}

pub(super) async fn an_absent_article_that_is_reported_becomes_unknown<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, None).await;
    site.merge([liked(5, 1), deleted(1, 5, 1)]).await;
    assert_eq!(site.look(5).await, Lookup::Absent);
    site.merge([created(1, 5, 1)]).await;
    assert!(site.is_missing(5).await, "it was created, or the event is late: the owner knows");
}

pub(super) async fn any_order_of_events_gives_the_same_article<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    for order in 0..200_u64 {
        let raw = order as i64 + 1;
        site.fill(raw, Some((1, 0, 0))).await;
        let mut events: Vec<_> = (2..=6).map(|version| edited(1, raw, version, 1)).collect();
        events.extend((1..=5).flat_map(|count| [commented(raw, count), liked(raw, count)]));
        events.extend(events.clone());
        // Each order is another one, and the same in every run.
        events.sort_by_cached_key(|event| {
            let seed = event.version ^ (event.event.type_name().len() as u64) << 8;
            (seed + 1).wrapping_mul(order * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
        });
        for batch in events.chunks(order as usize % 5 + 1) {
            site.merge(batch.iter().cloned()).await;
        }
        assert_eq!(site.seen(raw).await, Some((6, 5, 5)), "order {order}");
    }
}

pub(super) async fn what_is_settled_changes_nothing<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((3, 1, 1))).await;
    site.fill(6, None).await;
    site.fill(7, Some((3, 1, 1))).await;
    site.merge([deleted(1, 7, 3)]).await;
    site.model.reserve(&[article(8)]).await.unwrap();
    for lists in [false, true] {
        if lists {
            site.fill_list(1, newest(&[5], true, 1, 1)).await;
        }
        for (raw, version) in (5..=9).flat_map(|raw| [2, 3, 4].map(|version| (raw, version))) {
            let asked = (article(raw), version);
            if site.model.settled(&[asked, asked]).await.unwrap() == [true, true] {
                let before = (site.look(raw).await, listed(&site).await);
                site.merge([edited(1, raw, version, 1)]).await;
                let after = (site.look(raw).await, listed(&site).await);
                assert_eq!(before, after, "article {raw}, version {version}");
            }
        }
    }
    let expected = site.model.settled(&[(article(8), 1), (article(6), 1), (article(5), 9)]).await.unwrap();
    assert_eq!(expected, vec![false; 3], "a rebuild is under way, it may exist after all, a newer text");
}

/// The candidates, but the one that is known to be gone: it shows nowhere.
async fn listed<H: ReadModelHarness>(site: &Site<H>) -> Vec<i64> {
    match site.list(1, page(1, 5)).await {
        ListLookup::Found { step: Step::Inside { ids, .. }, .. } => {
            raws(&ids).into_iter().filter(|raw| *raw != 7).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) async fn sizes_are_told<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    assert_eq!(site.model.size().await.unwrap(), ModelSize::default());
    for raw in 1..=10 {
        site.fill(raw, Some((1, 0, 0))).await;
    }
    site.fill_list(1, newest(&[3, 2, 1], true, 3, 3)).await;
    site.model.reserve(&[article(11), article(12)]).await.unwrap();
    let size = site.model.size().await.unwrap();
    assert_eq!((size.entries, size.lists, size.placeholders), (10, 1, 2));
    assert!(size.bytes > 10 * 50, "{size:?}");
    site.model.clear().await.unwrap();
    assert_eq!(site.model.size().await.unwrap(), ModelSize::default());
}

pub(super) async fn what_is_held_is_told_shard_by_shard<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    for raw in 1..=40 {
        site.fill(raw, Some((raw as u64, 10, 20))).await;
    }
    site.merge([liked(1, 21), deleted(1, 2, 9)]).await;
    // Neither an absence nor a placeholder is something that is held.
    site.fill(41, None).await;
    site.model.reserve(&[article(42)]).await.unwrap();
    let mut held = Vec::new();
    for shard in ShardId::all() {
        for (article, entry) in site.model.entries(shard).await.unwrap() {
            assert_eq!(ShardId::of_parts(article), shard, "{article}");
            held.push((article.raw(), seen(&entry)));
        }
    }
    held.sort_unstable();
    let expected = (1..=40).map(|raw| match raw {
        1 => (1, Some((1, 10, 21))),
        2 => (2, None),
        raw => (raw, Some((raw as u64, 10, 20))),
    });
    assert_eq!(held, expected.collect::<Vec<_>>());
    site.model.clear().await.unwrap();
    for shard in ShardId::all() {
        assert_eq!(site.model.entries(shard).await.unwrap(), vec![]);
    }
}
