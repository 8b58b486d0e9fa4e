//! What a list says is all there is, or it says that it does not know.

use std::collections::BTreeSet;

use madang_board::ArticleId;
use madang_event::Envelope;
use madang_kernel::{PageNumber, PageSize};
use proptest::prelude::*;

use super::*;
use crate::sample::{article, board_count, change, created, deleted, edited, every_order, restored};

fn list(ids: impl IntoIterator<Item = i64>, is_all: bool) -> BoardList {
    let ids: Vec<_> = ids.into_iter().map(article).collect();
    let count = board_count(ids.len() as u64, ids.len() as u64);
    BoardList::of(NewestArticles { ids, is_all, count })
}

fn size(size: i64) -> PageSize {
    PageSize::new("size", size).unwrap()
}

fn page(number: i64, of: i64) -> Window {
    Window::Page(PageNumber::new("page", number).unwrap(), size(of))
}

fn before(raw: i64, of: i64) -> Window {
    Window::Before(Some(article(raw)), size(of))
}

fn ids(step: &Step) -> Option<Vec<i64>> {
    match step {
        Step::Inside { ids, .. } => Some(ids.iter().map(|id| id.raw()).collect()),
        Step::Outside => None,
    }
}

fn merge(list: &mut BoardList, event: &Envelope) {
    list.merge(&change(event).board.expect("an article's event"));
}

#[test]
fn a_complete_list_knows_its_end() {
    let list = list([5, 4, 3, 2, 1], true);
    assert_eq!(ids(&list.look(page(1, 3))), Some(vec![5, 4, 3]));
    assert_eq!(ids(&list.look(page(2, 3))), Some(vec![2, 1]));
    assert_eq!(ids(&list.look(page(3, 3))), Some(vec![]));
    assert_eq!(ids(&list.look(page(1_000_000_000, 100))), Some(vec![]));
    let Step::Inside { next, count, .. } = list.look(before(4, 2)) else { panic!() };
    assert_eq!((next, count), (Some(article(2)), 5));
    let Step::Inside { ids, next, .. } = list.look(before(4, 3)) else { panic!() };
    assert_eq!((ids.len(), next), (3, None));
    assert_eq!(self::ids(&list.look(before(1, 3))), Some(vec![]));
}

#[test]
fn a_list_that_is_not_complete_says_so_at_its_end() {
    let list = list([9, 8, 7, 6, 5], false);
    assert_eq!(ids(&list.look(page(1, 5))), Some(vec![9, 8, 7, 6, 5]));
    assert_eq!(list.look(page(2, 3)), Step::Outside);
    let Step::Inside { next, .. } = list.look(Window::Before(None, size(4))) else { panic!() };
    assert_eq!(next, Some(article(6)));
    assert_eq!(list.look(before(8, 3)), Step::Outside, "whether there is more is not known");
    assert_eq!(list.look(before(4, 3)), Step::Outside);
    assert_eq!(self::list([], false).look(page(1, 1)), Step::Outside);
}

#[test]
fn what_comes_late_takes_its_place_above_the_floor_only() {
    let mut list = list([90, 70, 50], false);
    for raw in [80, 40, 80, 95] {
        merge(&mut list, &created(raw, board_count(4, 100)));
    }
    assert_eq!(ids(&list.look(page(1, 5))), Some(vec![95, 90, 80, 70, 50]));
    assert_eq!(list.count(), board_count(4, 100));
}

#[test]
fn the_newest_thousand_stay() {
    let mut list = list([], true);
    for raw in 1..=LIST_MAX as i64 + 5 {
        merge(&mut list, &created(raw, board_count(raw as u64, raw as u64)));
    }
    assert_eq!(list.look(page(11, 100)), Step::Outside, "no longer complete");
    let Some(last) = ids(&list.look(page(10, 100))) else { panic!() };
    assert_eq!((last[0], last[99]), (105, 6));
    assert!(!list.is_thin());
    merge(&mut list, &created(3, board_count(1, 1)));
    assert_eq!(ids(&list.look(page(10, 100))).unwrap()[99], 6, "below the floor");
    for raw in 500..=1_005 {
        merge(&mut list, &deleted(raw, 2, board_count(1, 2_000)));
    }
    assert!(list.is_thin());
    assert_eq!(list.look(page(5, 100)), Step::Outside);
}

#[test]
fn a_deleted_article_does_not_come_back() {
    let mut list = list([3, 2, 1], true);
    merge(&mut list, &deleted(2, 4, board_count(2, 4)));
    for late in [created(2, board_count(2, 2)), edited(2, 3, board_count(3, 3))] {
        merge(&mut list, &late);
    }
    assert_eq!(ids(&list.look(page(1, 5))), Some(vec![3, 1]));
    assert_eq!(list.count(), board_count(2, 4));
}

#[test]
fn deletions_remembered_are_bounded() {
    let mut list = list([], true);
    for raw in 1..=3 * GONE_MAX as i64 {
        merge(&mut list, &deleted(raw, 2, board_count(0, raw as u64)));
    }
    assert_eq!(list.marks.len(), GONE_MAX);
    let mut changes = ListChanges::default();
    for raw in 1..=3 * CHANGES_MAX as i64 {
        changes.merge(&change(&created(raw, board_count(1, 1))).board.unwrap());
    }
    assert!(changes.there.len() <= CHANGES_MAX);
    assert!(!list.merge_all(&changes), "the rebuild must start anew");
}

#[test]
fn every_order_of_a_small_set_gives_the_same_list() {
    let events = vec![
        created(20, board_count(3, 3)),
        created(30, board_count(4, 4)),
        edited(20, 2, board_count(4, 4)),
        deleted(10, 2, board_count(3, 5)),
        deleted(30, 2, board_count(2, 6)),
        created(10, board_count(2, 2)),
    ];
    let start = list([15, 10], true);
    let mut expected = start.clone();
    events.iter().for_each(|event| merge(&mut expected, event));
    assert_eq!(ids(&expected.look(page(1, 9))), Some(vec![20, 15]));
    assert_eq!(expected.count(), board_count(2, 6));
    every_order(&events, &mut |order| {
        let (mut direct, mut waiting) = (start.clone(), ListChanges::default());
        for event in order {
            merge(&mut direct, event);
            waiting.merge(&change(event).board.unwrap());
        }
        assert_eq!(direct, expected);
        let mut filled = start.clone();
        assert!(filled.merge_all(&waiting));
        assert_eq!(filled, expected);
    });
}

#[test]
fn whatever_the_order_what_was_restored_last_is_there_and_what_was_deleted_last_is_not() {
    let events = vec![
        deleted(10, 2, board_count(1, 3)),
        restored(10, 3, board_count(2, 4)),
        deleted(15, 2, board_count(1, 5)),
        restored(15, 3, board_count(2, 6)),
        deleted(15, 4, board_count(1, 7)),
        edited(10, 4, board_count(1, 7)),
    ];
    let start = list([15, 10], true);
    every_order(&events, &mut |order| {
        let (mut direct, mut waiting) = (start.clone(), ListChanges::default());
        for event in order.iter().chain(order) {
            merge(&mut direct, event);
            waiting.merge(&change(event).board.unwrap());
        }
        assert_eq!(ids(&direct.look(page(1, 9))), Some(vec![10]));
        let mut filled = start.clone();
        assert!(filled.merge_all(&waiting));
        assert_eq!(filled, direct);
        // Told after all of it: nothing that comes late undoes what the owner said.
        let mut told = BoardList::of(NewestArticles { ids: vec![article(10)], is_all: true, count: board_count(1, 7) });
        order.iter().for_each(|event| merge(&mut told, event));
        assert!(told.merge_all(&waiting));
        assert_eq!(ids(&told.look(page(1, 9))), Some(vec![10]));
    });
}

#[test]
fn who_saw_an_older_deletion_takes_nothing_restored_away() {
    let restored_event = restored(2, 3, board_count(3, 5));
    let mut list = list([3, 2, 1], true);
    merge(&mut list, &deleted(2, 2, board_count(2, 4)));
    list.remove(article(2));
    merge(&mut list, &restored_event);
    list.remove(article(2));
    assert_eq!(ids(&list.look(page(1, 5))), Some(vec![3, 2, 1]));
    // The same where both wait for a list that is told after the restore.
    let mut waiting = ListChanges::default();
    waiting.remove(article(2));
    waiting.merge(&change(&restored_event).board.unwrap());
    let mut told = self::list([5, 4, 3, 2, 1], true);
    assert!(told.merge_all(&waiting));
    assert_eq!(ids(&told.look(page(1, 5))), Some(vec![5, 4, 3, 2, 1]));
}

proptest! {
    /// Creations and deletions in any order, repeated: whatever the list says is inside is what the board holds.
    #[test]
    fn what_is_inside_is_true(
        existing in prop::collection::btree_set(1..4_000i64, 0..1_500),
        (events, dead) in prop::collection::btree_set(1..6_000i64, 1..900).prop_flat_map(|created| {
            let created: Vec<_> = created.into_iter().collect();
            (Just([created.clone(), created.clone()].concat()).prop_shuffle(), prop::sample::subsequence(created.clone(), 0..=created.len()))
        }),
        seed in any::<u64>(),
    ) {
        let newest: Vec<_> = existing.iter().rev().copied().take(LIST_MAX).collect();
        let is_all = newest.len() == existing.len();
        let mut list = list(newest, is_all);
        let dead: BTreeSet<_> = dead.into_iter().collect();
        let mut random = seed;
        for raw in &events {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let early = random >> 63 == 0;
            for turn in [early, !early] {
                match turn {
                    true => merge(&mut list, &created(*raw, board_count(0, 0))),
                    false if dead.contains(raw) => merge(&mut list, &deleted(*raw, 9, board_count(0, 9_000))),
                    false => {}
                }
            }
        }
        let truth: BTreeSet<_> = existing.iter().chain(&events).filter(|raw| !dead.contains(raw)).copied().collect();
        let truth: Vec<_> = truth.into_iter().rev().collect();
        let mut inside = 0;
        for number in 1..=12 {
            let start = (number as usize - 1) * 100;
            if let Some(found) = ids(&list.look(page(number, 100))) {
                let expected: Vec<_> = truth.iter().skip(start).take(100).copied().collect();
                prop_assert_eq!(found, expected, "page {}", number);
                inside += 1;
            }
            if let Some(cursor) = truth.get(start)
                && let Step::Inside { ids, next, .. } = list.look(before(*cursor, 30))
            {
                let expected: Vec<_> = truth.iter().skip(start + 1).take(30).map(|raw| article(*raw)).collect::<Vec<ArticleId>>();
                prop_assert_eq!(next.is_some(), truth.len() > start + 31);
                prop_assert_eq!(ids, expected);
            }
        }
        prop_assert!(inside > 0 || truth.len() > 100 || !is_all);
    }
}
