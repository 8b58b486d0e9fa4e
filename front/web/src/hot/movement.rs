//! How today's ranks moved: compared with those of about an hour ago, as this process saw them. Behind several processes
//! each tells what it saw, which differs by minutes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use madang_board::ArticleId;
use madang_kernel::Timestamp;

/// Between two snapshots that are kept.
const SNAPSHOT_INTERVAL_MS: i64 = 5 * 60_000;
/// Ranks are compared with the oldest snapshot within this time: an hour.
const COMPARED_MS: i64 = 12 * SNAPSHOT_INTERVAL_MS;
/// Snapshots that are kept: those of twelve intervals, and the one they began with.
const SNAPSHOTS_MAX: usize = 12 + 1;

/// Where an article was an hour ago, seen from where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Movement {
    /// Nothing to compare with, or the same rank.
    None,
    /// So many ranks up.
    Up(usize),
    /// So many ranks down.
    Down(usize),
    /// Not in the list then.
    New,
}

/// The ranks of one day, now and then.
#[derive(Default)]
pub(crate) struct Movements(Mutex<Snapshots>);

#[derive(Default)]
struct Snapshots {
    day: String,
    snapshots: VecDeque<(i64, Vec<ArticleId>)>,
}

impl Movements {
    /// Takes today's ranks in, and tells how each moved.
    pub(crate) fn of(&self, day: &str, now: Timestamp, ranks: &[ArticleId]) -> Vec<Movement> {
        let mut snapshots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        snapshots.note(day, now.as_millis(), ranks);
        let Some((_, then)) = snapshots.snapshots.front() else { return vec![Movement::None; ranks.len()] };
        let moved =
            ranks.iter().enumerate().map(|(rank, article)| match then.iter().position(|found| found == article) {
                None => Movement::New,
                Some(before) if before > rank => Movement::Up(before - rank),
                Some(before) if before < rank => Movement::Down(rank - before),
                Some(_) => Movement::None,
            });
        moved.collect()
    }
}

impl Snapshots {
    fn note(&mut self, day: &str, now_ms: i64, ranks: &[ArticleId]) {
        if self.day != day {
            *self = Self { day: day.to_owned(), snapshots: VecDeque::new() };
        }
        while self.snapshots.len() >= 2 && self.snapshots[0].0 < now_ms - COMPARED_MS
            || self.snapshots.len() > SNAPSHOTS_MAX
        {
            self.snapshots.pop_front();
        }
        if self.snapshots.back().is_none_or(|(seen_ms, _)| now_ms - seen_ms >= SNAPSHOT_INTERVAL_MS) {
            self.snapshots.push_back((now_ms, ranks.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn ranks(ids: &[i64]) -> Vec<ArticleId> {
        ids.iter().copied().map(ArticleId::from_raw).collect()
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + minutes * 60_000)
    }

    #[test]
    fn ranks_are_compared_with_those_of_an_hour_ago() {
        let movements = Movements::default();
        assert_eq!(movements.of("d", at(0), &ranks(&[1, 2])), [Movement::None, Movement::None]);
        assert_eq!(movements.of("d", at(50), &ranks(&[2, 3, 1])), [Movement::Up(1), Movement::New, Movement::Down(2)]);
        // The first snapshot is older than an hour by now, and the second is what counts.
        assert_eq!(movements.of("d", at(70), &ranks(&[2, 1])), [Movement::None, Movement::Up(1)]);
    }

    #[test]
    fn a_new_day_starts_anew() {
        let movements = Movements::default();
        movements.of("d", at(0), &ranks(&[1]));
        assert_eq!(movements.of("e", at(10), &ranks(&[2])), [Movement::None]);
    }

    #[test]
    fn looks_are_bounded() {
        let movements = Movements::default();
        for minute in 0..10_000 {
            movements.of("d", at(minute), &ranks(&[1]));
        }
        assert!(movements.0.lock().unwrap().snapshots.len() <= SNAPSHOTS_MAX + 1);
    }
}
