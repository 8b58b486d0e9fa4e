//! A rebuild beside the changes that come, and what takes its place.

use super::SearchIndexHarness;
use super::site::{Site, article_gone, document, put, put_comment};

pub(super) async fn a_new_index_says_that_it_is_being_filled<H: SearchIndexHarness>(harness: H) {
    let site = Site::unfilled(harness).await;
    assert!(site.is_partial().await);
    // What comes meanwhile can be found.
    site.apply(vec![put(2, 1, "마당", "새 글")]).await;
    let rebuild = site.index.rebuild().await.unwrap().unwrap();
    assert_eq!(rebuild.cursor, None);
    let older = document(put(1, 1, "마당", "옛 글"));
    assert!(site.index.add_rebuilt(rebuild.number, vec![older], Some("here".into())).await.unwrap());
    assert_eq!(site.newest("마당").await, [2, 1]);
    assert!(site.index.finish_rebuild(rebuild.number).await.unwrap());
    assert_eq!((site.newest("마당").await, site.is_partial().await), (vec![2, 1], false));
    assert_eq!(site.index.rebuild().await.unwrap(), None);
}

pub(super) async fn a_rebuild_takes_the_place_of_what_was_there<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    // Twice, so that both places are used again.
    for round in 1..=3_u64 {
        // Something that no owner has, and nobody was told of.
        let wrong = 100 + round as i64;
        site.apply(vec![put(wrong, 1, "마당", "틀린 글")]).await;
        let rebuild = site.index.begin_rebuild().await.unwrap();
        assert!(site.is_partial().await);
        assert_eq!(site.newest("틀린").await, [wrong], "what was there is found until the end");
        let right = (1..=20).map(|number| document(put(number, round, "마당", "맞는 글"))).collect();
        assert!(site.index.add_rebuilt(rebuild.number, right, None).await.unwrap());
        assert!(site.index.finish_rebuild(rebuild.number).await.unwrap());
        assert!(!site.is_partial().await);
        assert_eq!(site.newest("마당").await, (1..=20).rev().collect::<Vec<_>>(), "round {round}");
        assert_eq!(site.index.size().await.unwrap().documents, 20);
    }
}

pub(super) async fn a_rebuild_keeps_what_changed_meanwhile<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![put(1, 1, "마당", "하나"), put(2, 1, "마당", "둘"), put_comment(3, 2, 1, "마당")]).await;
    let rebuild = site.index.begin_rebuild().await.unwrap();
    // Read by the rebuild before these changes, and handed in after them.
    let read_before = vec![document(put(1, 1, "마당", "하나")), document(put(2, 1, "마당", "둘"))];
    let comments_before = vec![document(put_comment(3, 2, 1, "마당"))];
    site.apply(vec![put(1, 2, "마당", "고친 하나"), article_gone(2, 2), put(4, 1, "마당", "넷")]).await;
    assert!(site.index.add_rebuilt(rebuild.number, read_before, None).await.unwrap());
    assert!(site.index.add_rebuilt(rebuild.number, comments_before, None).await.unwrap());
    assert!(site.index.finish_rebuild(rebuild.number).await.unwrap());
    assert_eq!((site.newest("마당").await, site.newest("고친").await), (vec![4, 1], vec![1]));
}

pub(super) async fn of_two_rebuilds_the_later_counts<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![put(9, 1, "마당", "있던 글")]).await;
    let first = site.index.begin_rebuild().await.unwrap();
    assert!(site.index.add_rebuilt(first.number, vec![document(put(1, 1, "마당", "하나"))], None).await.unwrap());
    let second = site.index.begin_rebuild().await.unwrap();
    assert_ne!(first.number, second.number);
    assert!(!site.index.add_rebuilt(first.number, vec![document(put(2, 1, "마당", "둘"))], None).await.unwrap());
    assert!(!site.index.finish_rebuild(first.number).await.unwrap());
    assert!(site.index.add_rebuilt(second.number, vec![document(put(3, 1, "마당", "셋"))], None).await.unwrap());
    assert!(site.index.finish_rebuild(second.number).await.unwrap());
    assert_eq!(site.newest("마당").await, [3]);
    assert!(!site.index.finish_rebuild(second.number).await.unwrap(), "it is over");
}

pub(super) async fn a_rebuild_goes_on_after_a_restart<H: SearchIndexHarness>(harness: H) {
    let mut site = Site::open(harness).await;
    let begun = site.index.begin_rebuild().await.unwrap();
    let first = vec![document(put(1, 1, "마당", "하나"))];
    site.index.add_rebuilt(begun.number, first, Some("after one".into())).await.unwrap();
    site.restart().await;
    let rebuild = site.index.rebuild().await.unwrap().unwrap();
    assert_eq!((rebuild.number, rebuild.cursor.as_deref()), (begun.number, Some("after one")));
    site.index.add_rebuilt(rebuild.number, vec![document(put(2, 1, "마당", "둘"))], None).await.unwrap();
    assert!(site.index.finish_rebuild(rebuild.number).await.unwrap());
    assert_eq!(site.newest("마당").await, [2, 1]);
}
