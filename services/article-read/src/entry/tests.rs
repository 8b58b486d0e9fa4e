//! Any order and any number of repetitions of the same events give the same entry.

use madang_event::Envelope;
use proptest::prelude::*;
use proptest::sample::subsequence;

use crate::sample::{board_count, change, commented, created, deleted, edited, every_order, liked, restored};
use crate::{ArticleGroup, Count, Entry, Shown};

fn merged<'a>(events: impl IntoIterator<Item = &'a Envelope>) -> Entry {
    let mut entry = Entry::default();
    events.into_iter().for_each(|event| entry.merge(change(event).entry));
    entry
}

#[test]
fn every_order_of_a_small_set_gives_the_same_entry() {
    let count = board_count(1, 1);
    let living = vec![
        created(5, count),
        edited(5, 2, count),
        commented(5, 1, 1),
        commented(5, 2, 0),
        liked(5, 1, 10),
        liked(5, 2, 9),
        edited(5, 3, count),
    ];
    let expected = merged(&living);
    let Shown::Live { text, comment_count, like_count, .. } = expected.shown() else { panic!("{expected:?}") };
    assert_eq!((text.head.version, comment_count, like_count), (3, 0, 9));
    every_order(&living, &mut |order| assert_eq!(merged(order), expected));

    let ended = [&living[..5], &[deleted(5, 4, count)]].concat();
    let expected = merged(&ended);
    assert_eq!(expected.article, Some(ArticleGroup::Deleted { version: 4 }));
    every_order(&ended, &mut |order| assert_eq!(merged(order), expected));

    let back = vec![
        created(5, count),
        deleted(5, 2, count),
        restored(5, 3, count),
        deleted(5, 4, count),
        restored(5, 5, count),
        liked(5, 1, 1),
    ];
    let expected = merged(&back);
    let Shown::Live { text, like_count, .. } = expected.shown() else { panic!("{expected:?}") };
    assert_eq!((text.head.version, like_count), (5, 1));
    every_order(&back, &mut |order| assert_eq!(merged(order), expected));
    every_order(&back[..4], &mut |order| assert_eq!(merged(order).shown(), Shown::Gone));
}

#[test]
fn unknown_is_not_zero() {
    let entry = merged(&[edited(5, 2, board_count(1, 1)), liked(5, 3, 2)]);
    assert_eq!(entry.comments, None);
    assert_eq!(entry.shown(), Shown::Unknown);
    assert_eq!(merged(&[liked(5, 3, 2)]).shown(), Shown::Unknown, "a like says nothing of the text");
}

#[test]
fn a_redelivered_creation_neither_resets_counts_nor_revives() {
    let count = board_count(1, 1);
    let entry = merged(&[created(5, count), commented(5, 4, 3), liked(5, 7, 6), created(5, count)]);
    assert_eq!(
        (entry.comments, entry.likes),
        (Some(Count { count: 3, version: 4 }.into()), Some(Count { count: 6, version: 7 }))
    );
    assert_eq!(merged(&[created(5, count), deleted(5, 2, count), created(5, count)]).shown(), Shown::Gone);
}

fn event() -> impl Strategy<Value = Envelope> {
    let count = board_count(1, 1);
    prop_oneof![
        Just(created(5, count)),
        (2..40u64).prop_map(move |version| edited(5, version, count)),
        Just(deleted(5, 40, count)),
        Just(restored(5, 41, count)),
        (21..30u64).prop_map(move |half| deleted(5, 2 * half, count)),
        (21..30u64).prop_map(move |half| restored(5, 2 * half + 1, count)),
        // A version stands for one count: the owner never gives it to another.
        (1..60u64).prop_map(|version| commented(5, version, version * 7 % 13)),
        (1..60u64).prop_map(|version| liked(5, version, version * 5 % 11)),
    ]
}

proptest! {
    #[test]
    fn any_order_with_duplicates_gives_the_same_entry(
        (events, again) in prop::collection::vec(event(), 1..60)
            .prop_flat_map(|events| (Just(events.clone()).prop_shuffle(), subsequence(events.clone(), 0..=events.len()))),
        seed in any::<prop::sample::Index>(),
    ) {
        let mut sorted = events.clone();
        sorted.sort_by_key(|event| event.version);
        let expected = merged(&sorted);
        let at = seed.index(events.len());
        let repeated: Vec<_> = events[..at].iter().chain(&again).chain(&events[at..]).chain(&again).cloned().collect();
        prop_assert_eq!(merged(&repeated), expected.clone());
        // In groups, as placeholder and entry meet.
        let (mut left, right) = (merged(&events[..at]), merged(&events[at..]));
        let mut other = right.clone();
        other.merge(left.clone());
        left.merge(right);
        prop_assert_eq!(&left, &other);
        prop_assert_eq!(left, expected);
    }
}
