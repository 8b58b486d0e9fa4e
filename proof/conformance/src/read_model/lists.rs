//! Lists of boards.

use madang_article_read::{Filled, LIST_MAX, ListLookup, Step, Window};
use madang_kernel::PageSize;

use super::ReadModelHarness;
use super::site::{Site, article, board, created, deleted, edited, kept_list, newest, page, restored};

pub(super) async fn a_complete_list_answers_short_pages<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, newest(&[30, 20, 10], true, 3, 7)).await;
    assert_eq!(site.first_page(1, 2).await, Some((vec![30, 20], 3)));
    assert_eq!(site.first_page(1, 100).await, Some((vec![30, 20, 10], 3)));
    let expected = |ids: &[i64], next: Option<i64>| ListLookup::Found {
        step: Step::Inside { ids: ids.iter().copied().map(article).collect(), next: next.map(article), count: 3 },
        is_stale: false,
    };
    assert_eq!(site.list(1, page(2, 2)).await, expected(&[10], None));
    assert_eq!(site.list(1, page(9, 2)).await, expected(&[], None));
    let size = PageSize::new("size", 1).unwrap();
    assert_eq!(site.list(1, Window::Before(None, size)).await, expected(&[30], Some(30)));
    assert_eq!(site.list(1, Window::Before(Some(article(25)), size)).await, expected(&[20], Some(20)));
    assert_eq!(site.list(1, Window::Before(Some(article(20)), size)).await, expected(&[10], None));
    site.fill_list(2, newest(&[], true, 0, 0)).await;
    assert_eq!(site.first_page(2, 30).await, Some((vec![], 0)));
}

pub(super) async fn a_list_that_goes_on_says_so<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let ids: Vec<_> = (1..=LIST_MAX as i64).rev().map(|raw| 10 * raw).collect();
    site.fill_list(1, newest(&ids, false, 5_000, 5_000)).await;
    assert_eq!(site.first_page(1, 100).await.map(|(ids, count)| (ids.len(), count)), Some((100, 5_000)));
    assert!(matches!(site.list(1, page(10, 100)).await, ListLookup::Found { step: Step::Inside { .. }, .. }));
    for outside in [page(11, 100), page(1_000_000, 1)] {
        assert_eq!(site.list(1, outside).await, ListLookup::Found { step: Step::Outside, is_stale: false });
    }
    // A new one pushes the oldest out; one from below the list changes nothing but the count.
    site.merge([created(1, 20_005, 5_001), created(1, 3, 5_002)]).await;
    let ListLookup::Found { step: Step::Inside { ids, count, .. }, .. } = site.list(1, page(10, 100)).await else {
        panic!("inside")
    };
    assert_eq!((ids.last().copied(), count), (Some(article(20)), 6_002));
}

pub(super) async fn a_list_follows_events<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, newest(&[30, 10], true, 2, 2)).await;
    site.merge([created(1, 40, 4), created(1, 20, 3), edited(1, 30, 2, 4), created(1, 40, 4)]).await;
    assert_eq!(site.first_page(1, 5).await, Some((vec![40, 30, 20, 10], 1_004)));
    site.merge([deleted(1, 30, 5), created(1, 30, 2), deleted(1, 50, 7), created(1, 50, 6)]).await;
    assert_eq!(site.first_page(1, 5).await, Some((vec![40, 20, 10], 1_007)), "what is deleted does not come back");
}

pub(super) async fn a_list_is_told_as_it_is_held<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    assert_eq!(site.model.held_list(board(1), 9).await.unwrap(), None);
    site.fill_list(1, newest(&[30, 20, 10], true, 3, 7)).await;
    assert_eq!(site.model.held_list(board(1), 9).await.unwrap(), newest(&[30, 20, 10], true, 3, 7));
    assert_eq!(site.model.held_list(board(1), 2).await.unwrap(), newest(&[30, 20], false, 3, 7));
    site.merge([deleted(1, 20, 8)]).await;
    assert_eq!(site.model.held_list(board(1), 9).await.unwrap(), newest(&[30, 10], true, 1_008, 8));
    site.fill_list(2, None).await;
    assert_eq!(site.model.held_list(board(2), 9).await.unwrap(), None);
}

pub(super) async fn a_list_keeps_what_comes_during_its_rebuild<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve_list(board(1)).await.unwrap();
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
    site.merge([created(1, 40, 4), deleted(1, 20, 5), created(1, 35, 3)]).await;
    let told = newest(&[30, 20, 10], true, 3, 3);
    let filled = site.model.fill_list(reservation, board(1), told).await.unwrap();
    assert_eq!(kept_list(&filled), vec![40, 35, 30, 10]);
    assert_eq!(site.first_page(1, 5).await, Some((vec![40, 35, 30, 10], 1_005)));
}

pub(super) async fn a_rebuilt_list_takes_the_place_of_the_old_one<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, newest(&[30, 20, 10], true, 3, 3)).await;
    site.fill_list(1, newest(&[40, 20], true, 2, 5)).await;
    assert_eq!(site.first_page(1, 5).await, Some((vec![40, 20], 2)));
}

pub(super) async fn candidates_that_are_gone_stay_away<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, newest(&[30, 20, 10], true, 3, 3)).await;
    let reservation = site.model.reserve_list(board(1)).await.unwrap();
    site.model.drop_candidates(board(1), &[article(20), article(99)]).await.unwrap();
    site.merge([created(1, 20, 2)]).await;
    assert_eq!(site.first_page(1, 5).await, Some((vec![30, 10], 3)));
    let told = newest(&[30, 20, 10], true, 3, 3);
    assert_eq!(kept_list(&site.model.fill_list(reservation, board(1), told).await.unwrap()), vec![30, 10]);
    site.model.drop_candidates(board(2), &[article(20)]).await.unwrap();
    assert_eq!(site.list(2, page(1, 5)).await, ListLookup::Miss);
}

pub(super) async fn what_is_restored_is_listed_and_an_older_deletion_changes_nothing<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let ids = async |site: &Site<H>| site.first_page(1, 5).await.map(|(ids, _)| ids);
    site.fill_list(1, newest(&[30, 20, 10], true, 3, 3)).await;
    site.merge([deleted(1, 20, 4)]).await;
    assert_eq!(ids(&site).await, Some(vec![30, 10]));
    site.merge([restored(1, 20, 5), deleted(1, 20, 4)]).await;
    assert_eq!(site.first_page(1, 5).await, Some((vec![30, 20, 10], 1_005)));
    site.model.drop_candidates(board(1), &[article(20)]).await.unwrap();
    assert_eq!(ids(&site).await, Some(vec![30, 20, 10]), "whoever found it gone saw the deletion before");
    // Told by the owner after all of that.
    site.fill_list(1, newest(&[30, 20, 10], true, 3, 6)).await;
    site.merge([deleted(1, 20, 4), restored(1, 20, 5)]).await;
    assert_eq!(ids(&site).await, Some(vec![30, 20, 10]));
    // While the owner is asked.
    let reservation = site.model.reserve_list(board(1)).await.unwrap();
    site.merge([deleted(1, 10, 7), restored(1, 10, 8), deleted(1, 20, 4)]).await;
    let told = newest(&[30, 20, 10], true, 3, 6);
    let filled = site.model.fill_list(reservation, board(1), told).await.unwrap();
    assert_eq!(kept_list(&filled), vec![30, 20, 10]);
    site.merge([deleted(1, 20, 9)]).await;
    assert_eq!(ids(&site).await, Some(vec![30, 10]), "a newer one counts");
}

pub(super) async fn an_absent_board_that_is_reported_becomes_unknown<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, None).await;
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Absent);
    site.merge([created(1, 5, 1)]).await;
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
}

pub(super) async fn an_absent_board_that_an_event_contradicts_is_asked_again<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve_list(board(1)).await.unwrap();
    site.merge([created(1, 5, 1)]).await;
    assert_eq!(site.model.fill_list(reservation, board(1), None).await.unwrap(), Filled::Retry);
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
}

pub(super) async fn a_list_that_is_cleared_takes_no_rebuild_from_before<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    site.fill_list(1, newest(&[10], true, 1, 1)).await;
    let before = site.model.reserve_list(board(1)).await.unwrap();
    site.model.clear().await.unwrap();
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
    let after = site.model.reserve_list(board(1)).await.unwrap();
    let told = || newest(&[20, 10], true, 2, 2);
    assert_eq!(site.model.fill_list(before, board(1), told()).await.unwrap(), Filled::Retry);
    assert_eq!(kept_list(&site.model.fill_list(after, board(1), told()).await.unwrap()), vec![20, 10]);
}

pub(super) async fn an_abandoned_list_keeps_nothing<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    let reservation = site.model.reserve_list(board(1)).await.unwrap();
    site.model.abandon_list(reservation, board(1)).await.unwrap();
    assert_eq!(site.model.size().await.unwrap().placeholders, 0);
    assert_eq!(site.model.fill_list(reservation, board(1), newest(&[1], true, 1, 1)).await.unwrap(), Filled::Retry);
    assert_eq!(site.list(1, page(1, 5)).await, ListLookup::Miss);
}

pub(super) async fn boards_do_not_mix<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    for board in 1..=100 {
        site.fill_list(board, newest(&[board * 1_000], true, 1, 1)).await;
    }
    site.merge((1..=100).map(|board| created(board, board * 1_000 + 1, 2))).await;
    for board in 1..=100 {
        let expected = vec![board * 1_000 + 1, board * 1_000];
        assert_eq!(site.first_page(board, 5).await, Some((expected, 1_002)));
    }
}
