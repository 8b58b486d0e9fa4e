//! Placeholders: what comes during a rebuild is kept, and only a rebuild that saw everything fills.

use madang_article_read::{Filled, Lookup};

use super::ReadModelHarness;
use super::site::{Site, article, commented, created, deleted, edited, entry, kept, liked};

pub(super) async fn a_rebuild_never_overwrites_an_event<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve(&[article(5), article(6)]).await.unwrap();
    assert!(site.is_missing(5).await, "a placeholder is no article");
    site.merge([edited(1, 5, 4, 1), liked(5, 21), liked(6, 2)]).await;
    let told = vec![(article(5), Some(entry(5, (3, 10, 20)))), (article(6), Some(entry(6, (1, 1, 1))))];
    let filled = site.model.fill(reservation, told).await.unwrap();
    assert_eq!(filled.iter().map(kept).collect::<Vec<_>>(), vec![Some((4, 10, 21)), Some((1, 1, 2))]);
    assert_eq!(site.seen(5).await, Some((4, 10, 21)));
    assert_eq!(site.seen(6).await, Some((1, 1, 2)));
    assert_eq!(site.model.size().await.unwrap().placeholders, 0);
}

pub(super) async fn a_late_event_does_not_overwrite_a_rebuild<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve(&[article(5)]).await.unwrap();
    site.merge([created(1, 5, 1), edited(1, 5, 2, 1), commented(5, 9), liked(5, 1)]).await;
    let told = vec![(article(5), Some(entry(5, (3, 10, 20))))];
    assert_eq!(kept(&site.model.fill(reservation, told).await.unwrap()[0]), Some((3, 10, 20)));
    assert_eq!(site.seen(5).await, Some((3, 10, 20)));
}

pub(super) async fn a_deletion_during_a_rebuild_wins<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve(&[article(5)]).await.unwrap();
    site.merge([deleted(1, 5, 2)]).await;
    let told = vec![(article(5), Some(entry(5, (3, 10, 20))))];
    assert_eq!(kept(&site.model.fill(reservation, told).await.unwrap()[0]), None);
    assert_eq!(site.seen(5).await, None);
}

pub(super) async fn an_absence_that_an_event_contradicts_is_asked_again<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve(&[article(5)]).await.unwrap();
    site.merge([created(1, 5, 1)]).await;
    assert_eq!(site.model.fill(reservation, vec![(article(5), None)]).await.unwrap(), vec![Filled::Retry]);
    assert!(site.is_missing(5).await);
    // The owner says the same after the event is known: then the event was late.
    site.fill(5, None).await;
    assert_eq!(site.look(5).await, Lookup::Absent);
    // Events of counts contradict nothing.
    let reservation = site.model.reserve(&[article(6)]).await.unwrap();
    site.merge([liked(6, 3), deleted(1, 6, 2)]).await;
    assert_eq!(kept(&site.model.fill(reservation, vec![(article(6), None)]).await.unwrap()[0]), None);
}

pub(super) async fn an_abandoned_placeholder_keeps_nothing<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve(&[article(5)]).await.unwrap();
    site.merge([liked(5, 3)]).await;
    site.model.abandon(reservation, &[article(5)]).await.unwrap();
    assert!(site.is_missing(5).await);
    assert_eq!(site.model.size().await.unwrap().placeholders, 0);
    let told = vec![(article(5), Some(entry(5, (1, 0, 0))))];
    assert_eq!(site.model.fill(reservation, told).await.unwrap(), vec![Filled::Retry]);
    assert!(site.is_missing(5).await);
}

pub(super) async fn only_the_last_ticket_fills<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let told = |version| vec![(article(5), Some(entry(5, (version, 0, 0))))];
    let first = site.model.reserve(&[article(5)]).await.unwrap();
    let second = site.model.reserve(&[article(5)]).await.unwrap();
    assert_eq!(site.model.fill(first, told(1)).await.unwrap(), vec![Filled::Retry]);
    site.model.abandon(first, &[article(5)]).await.unwrap();
    site.merge([edited(1, 5, 3, 1)]).await;
    assert_eq!(kept(&site.model.fill(second, told(2)).await.unwrap()[0]), Some((3, 0, 0)));
    assert_eq!(site.model.fill(second, told(4)).await.unwrap(), vec![Filled::Retry], "filled once");
    assert_eq!(site.seen(5).await, Some((3, 0, 0)));
}

pub(super) async fn what_is_there_stays_readable_during_a_rebuild<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((3, 10, 20))).await;
    let reservation = site.model.reserve(&[article(5)]).await.unwrap();
    assert_eq!(site.seen(5).await, Some((3, 10, 20)));
    site.merge([liked(5, 21)]).await;
    assert_eq!(site.seen(5).await, Some((3, 10, 21)));
    site.model.abandon(reservation, &[article(5)]).await.unwrap();
    assert_eq!(site.seen(5).await, Some((3, 10, 21)), "a failed rebuild takes nothing away");
    // An owner that has fallen behind what was shown already does not take it back.
    site.fill(5, Some((2, 9, 9))).await;
    assert_eq!(site.seen(5).await, Some((3, 10, 21)));
    site.fill(5, None).await;
    assert_eq!(site.look(5).await, Lookup::Absent, "deleted, and the event is late");
}

pub(super) async fn a_model_that_is_cleared_takes_no_rebuild_from_before<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((3, 10, 20))).await;
    let reservation = site.model.reserve(&[article(5), article(6)]).await.unwrap();
    site.model.clear().await.unwrap();
    assert!(site.is_missing(5).await);
    let again = site.model.reserve(&[article(6)]).await.unwrap();
    let told = |version| [5, 6].map(|raw| (article(raw), Some(entry(raw, (version, 0, 0))))).to_vec();
    assert_eq!(site.model.fill(reservation, told(1)).await.unwrap(), vec![Filled::Retry, Filled::Retry]);
    assert!(site.is_missing(5).await && site.is_missing(6).await);
    assert_eq!(kept(&site.model.fill(again, told(2).split_off(1)).await.unwrap()[0]), Some((2, 0, 0)));
}
