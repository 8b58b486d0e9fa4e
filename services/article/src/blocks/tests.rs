//! Counted blocks against a plain sorted list: random inserts (late small ids too), deletes and pages agree.

use std::collections::{BTreeMap, BTreeSet};

use madang_kernel::Id;
use proptest::prelude::*;

use super::*;

/// A board as an adapter keeps it: rows, two levels of blocks, and the greatest id seen.
#[derive(Default)]
struct Board {
    rows: BTreeSet<i64>,
    blocks: BTreeMap<i64, u64>,
    super_blocks: BTreeMap<i64, u64>,
    greatest_seen: i64,
}

impl Board {
    fn insert(&mut self, id: i64) {
        if !self.rows.insert(id) {
            return;
        }
        if self.blocks.is_empty() {
            self.blocks.insert(OLDEST_FIRST_ID, 0);
            self.super_blocks.insert(OLDEST_FIRST_ID, 0);
        }
        let newest = *self.blocks.values().next_back().unwrap();
        let newest_super = *self.super_blocks.values().next_back().unwrap();
        // A block of the model is 250 times smaller, so that a few hundred articles fill many.
        let opens = opens_new_block(newest * 250, ArticleId::from_raw(id), ArticleId::from_raw(self.greatest_seen));
        if opens {
            self.blocks.insert(id, 0);
        }
        if opens_new_super_block(newest_super * 4_000, opens) {
            self.super_blocks.insert(id, 0);
        }
        self.greatest_seen = self.greatest_seen.max(id);
        *self.blocks.range_mut(..=id).next_back().unwrap().1 += 1;
        *self.super_blocks.range_mut(..=id).next_back().unwrap().1 += 1;
    }

    fn delete(&mut self, id: i64) {
        if self.rows.remove(&id) {
            *self.blocks.range_mut(..=id).next_back().unwrap().1 -= 1;
            *self.super_blocks.range_mut(..=id).next_back().unwrap().1 -= 1;
        }
    }

    fn page(&self, offset: u64, size: usize) -> Vec<i64> {
        let levels = [&self.super_blocks, &self.blocks];
        let place = levels.iter().fold(Position::after(offset), |from, level| {
            skip(from, level.range(..from.below).rev().map(|(first, count)| (*first, *count)))
        });
        self.rows.range(..place.below).rev().skip(place.remaining as usize).take(size).copied().collect()
    }

    /// How many rows are scanned before the page starts: what the blocks are for.
    fn scanned(&self, offset: u64) -> u64 {
        let upper = skip(Position::after(offset), self.super_blocks.iter().rev().map(|(id, count)| (*id, *count)));
        let lower = self.blocks.range(..upper.below).rev().map(|(id, count)| (*id, *count));
        skip(upper, lower).remaining
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// Above everything so far.
    Append(i64),
    /// Anywhere, as a slow process commits a small id late.
    Late(i64),
    /// One of the rows, by position.
    Delete(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..50i64).prop_map(Step::Append),
        2 => (1..5_000i64).prop_map(Step::Late),
        2 => any::<usize>().prop_map(Step::Delete),
    ];
    prop::collection::vec(step, 0..300)
}

proptest! {
    #[test]
    fn a_page_by_blocks_is_the_page_by_offset(
        steps in steps(), offsets in prop::collection::vec(0..350u64, 1..8), size in 1..40usize,
    ) {
        let mut board = Board::default();
        for step in steps {
            match step {
                Step::Append(gap) => board.insert(board.greatest_seen + gap),
                Step::Late(id) => board.insert(id),
                Step::Delete(at) if !board.rows.is_empty() => {
                    let id = *board.rows.iter().nth(at % board.rows.len()).unwrap();
                    board.delete(id);
                }
                Step::Delete(_) => {}
            }
        }
        prop_assert_eq!(board.blocks.values().sum::<u64>(), board.rows.len() as u64);
        prop_assert_eq!(board.super_blocks.values().sum::<u64>(), board.rows.len() as u64);
        for first in board.super_blocks.keys() {
            prop_assert!(board.blocks.contains_key(first), "a super-block starts where a block starts");
        }
        for offset in offsets {
            let plain: Vec<i64> = board.rows.iter().rev().skip(offset as usize).take(size).copied().collect();
            prop_assert_eq!(board.page(offset, size), plain);
        }
    }
}

#[test]
fn appended_articles_fill_blocks_of_four_and_super_blocks_of_sixteen() {
    let mut board = Board::default();
    (1..=160).for_each(|id| board.insert(id));
    assert_eq!((board.blocks.len(), board.super_blocks.len()), (40, 10));
    assert!((0..160).all(|offset| board.scanned(offset) < 4), "never more than a block is scanned");
}

#[test]
fn a_full_block_opens_no_other_for_a_late_id() {
    let (old, new) = (ArticleId::from_raw(10), ArticleId::from_raw(11));
    assert!(!opens_new_block(BLOCK_ARTICLES, old, new));
    assert!(!opens_new_block(BLOCK_ARTICLES, new, new));
    assert!(!opens_new_block(BLOCK_ARTICLES - 1, new, old));
    assert!(opens_new_block(BLOCK_ARTICLES, new, old));
    assert!(!opens_new_super_block(SUPER_BLOCK_ARTICLES, false));
    assert!(opens_new_super_block(SUPER_BLOCK_ARTICLES, true));
}

#[test]
fn past_the_end_nothing_is_left() {
    let place = skip(Position::after(u64::MAX), [(500, 3), (OLDEST_FIRST_ID, 4)]);
    assert_eq!(place, Position { below: OLDEST_FIRST_ID, remaining: u64::MAX - 7 });
}
