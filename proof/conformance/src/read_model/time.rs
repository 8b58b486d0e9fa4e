//! How long things are kept.

use std::time::Duration;

use madang_article_read::{ABSENT_TTL_MS, ENTRY_TTL_MS, ListLookup, Lookup, STALE_MAX_MS, Step};

use super::ReadModelHarness;
use super::site::{Site, created, deleted, liked, newest, page, raws, seen};

fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms as u64)
}

pub(super) async fn an_absence_lasts_for_a_moment<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, None).await;
    site.fill_list(1, None).await;
    site.harness.pass(ms(ABSENT_TTL_MS - 1)).await;
    assert_eq!(site.look(5).await, Lookup::Absent);
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Absent);
    site.harness.pass(ms(1)).await;
    assert_eq!(site.look(5).await, Lookup::Miss);
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
}

pub(super) async fn an_article_is_kept_for_a_day_whatever_happens_to_it<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((1, 0, 0))).await;
    site.harness.pass(ms(ENTRY_TTL_MS - 1)).await;
    site.merge([liked(5, 1)]).await;
    assert_eq!(site.seen(5).await, Some((1, 0, 1)));
    site.harness.pass(ms(1)).await;
    let Lookup::Found { entry, is_stale: true } = site.look(5).await else { panic!("its day is over") };
    assert_eq!(seen(&entry), Some((1, 0, 1)));
    site.merge([liked(5, 2)]).await;
    let Lookup::Found { entry, is_stale: true } = site.look(5).await else { panic!("events do not move its end") };
    assert_eq!(seen(&entry), Some((1, 0, 2)), "and the old one is as right as ever");
    site.harness.pass(ms(STALE_MAX_MS - 1)).await;
    assert!(matches!(site.look(5).await, Lookup::Found { is_stale: true, .. }));
    site.harness.pass(ms(1)).await;
    assert!(site.is_missing(5).await);
}

pub(super) async fn a_refresh_starts_a_new_day<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill(5, Some((1, 0, 0))).await;
    site.harness.pass(ms(ENTRY_TTL_MS)).await;
    site.fill(5, Some((1, 0, 0))).await;
    site.harness.pass(ms(ENTRY_TTL_MS - 1)).await;
    assert_eq!(site.seen(5).await, Some((1, 0, 0)));
}

pub(super) async fn a_list_is_kept_for_a_day_whatever_happens_to_it<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, newest(&[3, 2], true, 2, 2)).await;
    site.harness.pass(ms(ENTRY_TTL_MS - 1)).await;
    site.merge([created(1, 5, 3)]).await;
    assert_eq!(site.first_page(1, 5).await, Some((vec![5, 3, 2], 1_003)));
    site.harness.pass(ms(1)).await;
    site.merge([deleted(1, 3, 4)]).await;
    let ListLookup::Found { step: Step::Inside { ids, count, .. }, is_stale: true } = site.list(1, page(1, 5)).await
    else {
        panic!("its day is over")
    };
    assert_eq!((raws(&ids), count), (vec![5, 2], 1_004));
    site.harness.pass(ms(STALE_MAX_MS)).await;
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
}
