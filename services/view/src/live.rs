//! Live counts: the views of recently viewed articles in memory, each an absolute number that only grows, and which of them
//! are to be written back. Pure: whoever holds it loads and writes.

use std::collections::HashMap;

use madang_board::ArticleId;
use madang_kernel::Timestamp;

use crate::{StoredViews, WrittenBack};

/// Taken off the promised age, so that the step that finds a count due and its COMMIT still keep the promise.
const WRITE_LEAD_MS: u64 = 1_000;

/// When live counts are written back, and how many may be live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveLimits {
    /// Unwritten views of one article after which it is written.
    pub write_back_views: u64,
    /// Age by which a view is written at the latest.
    pub write_back_ms: u64,
    /// Articles that may be live, about 50 bytes each.
    pub articles_max: usize,
    /// Guests of one network that count on one article within a window of ten minutes.
    pub network_guests_max: u32,
}

impl LiveLimits {
    /// Age from which on a view is due.
    pub fn due_after_ms(&self) -> u64 {
        self.write_back_ms.saturating_sub(WRITE_LEAD_MS)
    }
}

impl Default for LiveLimits {
    fn default() -> Self {
        Self { write_back_views: 100, write_back_ms: 5_000, articles_max: 600_000, network_guests_max: 50 }
    }
}

/// Every live count waits to be written, and there is no room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("every live count waits to be written")]
pub struct Full;

/// A count after a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Added {
    pub(crate) count: u64,
    /// This view made the article due.
    pub(crate) is_due: bool,
}

struct Counter {
    count: u64,
    /// What the store is known to hold at least.
    written: u64,
    viewed_at: Timestamp,
}

/// The live counts of one process.
pub struct LiveCounts {
    limits: LiveLimits,
    counters: HashMap<ArticleId, Counter>,
    /// Articles with unwritten views, and since when.
    dirty: HashMap<ArticleId, Timestamp>,
}

impl LiveCounts {
    /// None yet.
    pub fn new(limits: LiveLimits) -> Self {
        Self { limits, counters: HashMap::new(), dirty: HashMap::new() }
    }

    /// The count, if the article is live.
    pub fn count(&self, article: ArticleId) -> Option<u64> {
        self.counters.get(&article).map(|counter| counter.count)
    }

    /// Makes an article live with what the store holds; if it is, the greater of both stays. When too many are live, clean
    /// ones leave, those viewed longest ago first. The count now.
    pub fn insert(&mut self, article: ArticleId, stored: u64, now: Timestamp) -> Result<u64, Full> {
        if let Some(counter) = self.counters.get_mut(&article) {
            counter.written = counter.written.max(stored);
            counter.count = counter.count.max(stored);
            if counter.count == counter.written {
                self.dirty.remove(&article);
            }
            return Ok(counter.count);
        }
        if self.counters.len() >= self.limits.articles_max.max(1) {
            self.make_room()?;
        }
        self.counters.insert(article, Counter { count: stored, written: stored, viewed_at: now });
        Ok(stored)
    }

    /// Counts a view; `None` if the article is not live.
    pub(crate) fn add(&mut self, article: ArticleId, now: Timestamp) -> Option<Added> {
        let counter = self.counters.get_mut(&article)?;
        counter.count += 1;
        counter.viewed_at = now;
        self.dirty.entry(article).or_insert(now);
        let unwritten = counter.count - counter.written;
        Some(Added { count: counter.count, is_due: unwritten.is_multiple_of(self.limits.write_back_views.max(1)) })
    }

    /// Counts to write back at `now`: enough views, old enough, or `all` that are unwritten.
    pub fn due(&self, now: Timestamp, all: bool) -> Vec<(ArticleId, u64)> {
        let due = self.dirty.iter().filter_map(|(article, since)| {
            let counter = self.counters.get(article)?;
            let many = counter.count - counter.written >= self.limits.write_back_views;
            (all || many || self.is_old(*since, now)).then_some((*article, counter.count))
        });
        due.collect()
    }

    /// Notes what the store answered to counts that were taken at `taken_at`.
    pub fn note_written(&mut self, answers: &[WrittenBack], taken_at: Timestamp) {
        for answer in answers {
            match answer.stored {
                StoredViews::Gone => self.forget(answer.article_id),
                StoredViews::Count(stored) => self.note_stored(answer.article_id, stored, taken_at),
            }
        }
    }

    /// Drops an article that is gone, with whatever was unwritten.
    pub fn forget(&mut self, article: ArticleId) {
        self.counters.remove(&article);
        self.dirty.remove(&article);
    }

    /// How many articles are live.
    pub fn live(&self) -> usize {
        self.counters.len()
    }

    /// How many of them have unwritten views.
    pub fn unwritten(&self) -> usize {
        self.dirty.len()
    }

    fn note_stored(&mut self, article: ArticleId, stored: u64, taken_at: Timestamp) {
        let Some(counter) = self.counters.get_mut(&article) else { return };
        counter.written = counter.written.max(stored);
        // The store never goes back; if it knows more, it is right.
        counter.count = counter.count.max(stored);
        if counter.count > counter.written {
            // What is still unwritten came after the counts were taken.
            self.dirty.insert(article, taken_at);
        } else {
            self.dirty.remove(&article);
        }
    }

    fn is_old(&self, since: Timestamp, now: Timestamp) -> bool {
        let age_ms = now.as_millis().saturating_sub(since.as_millis());
        // After the clock stepped back an age says nothing, so it counts as old.
        u64::try_from(age_ms).map_or(true, |age_ms| age_ms >= self.limits.due_after_ms())
    }

    /// Drops clean counts, a quarter of all that may be live, so that this is seldom done.
    fn make_room(&mut self) -> Result<(), Full> {
        let is_clean = |article: &ArticleId| !self.dirty.contains_key(article);
        let clean = self.counters.iter().filter(|(article, _)| is_clean(article));
        let mut clean: Vec<_> = clean.map(|(article, counter)| (counter.viewed_at, *article)).collect();
        if clean.is_empty() {
            return Err(Full);
        }
        let leaving = self.limits.articles_max.div_ceil(4).clamp(1, clean.len());
        clean.select_nth_unstable(leaving - 1);
        for (_, article) in &clean[..leaving] {
            self.counters.remove(article);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use madang_kernel::Id;
    use proptest::prelude::*;

    use super::*;

    fn id(raw: i64) -> ArticleId {
        ArticleId::from_raw(raw)
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + ms)
    }

    fn written(raw: i64, count: u64) -> [WrittenBack; 1] {
        [WrittenBack { article_id: id(raw), stored: StoredViews::Count(count) }]
    }

    fn live(articles_max: usize) -> LiveCounts {
        LiveCounts::new(LiveLimits { articles_max, ..LiveLimits::default() })
    }

    #[test]
    fn a_hundred_views_are_due_at_once() {
        let mut live = live(10);
        live.insert(id(1), 7, at(0)).unwrap();
        let due: Vec<bool> = (0..100).map(|_| live.add(id(1), at(0)).unwrap().is_due).collect();
        assert_eq!(due.iter().position(|is_due| *is_due), Some(99));
        assert_eq!(live.due(at(0), false), [(id(1), 107)]);
        live.note_written(&written(1, 107), at(0));
        assert_eq!(live.due(at(60_000), true), []);
    }

    #[test]
    fn a_single_view_is_due_in_time() {
        let mut live = live(10);
        live.insert(id(1), 0, at(0)).unwrap();
        live.add(id(1), at(0)).unwrap();
        live.add(id(1), at(3_000)).unwrap();
        assert_eq!(live.due(at(3_999), false), []);
        assert_eq!(live.due(at(4_000), false), [(id(1), 2)], "a second is left for the step and the commit");
        assert_eq!(live.due(at(-1), false), [(id(1), 2)], "the clock stepped back");
        assert_eq!(live.due(at(0), true), [(id(1), 2)]);
    }

    #[test]
    fn views_during_a_write_stay_unwritten_and_age_from_then() {
        let mut live = live(10);
        live.insert(id(1), 0, at(0)).unwrap();
        live.add(id(1), at(0)).unwrap();
        live.add(id(1), at(4_100)).unwrap();
        live.note_written(&written(1, 1), at(4_000));
        assert_eq!(live.due(at(7_999), false), []);
        assert_eq!(live.due(at(8_000), false), [(id(1), 2)]);
    }

    #[test]
    fn what_is_gone_is_dropped_with_its_views() {
        let mut live = live(10);
        live.insert(id(1), 0, at(0)).unwrap();
        live.add(id(1), at(0)).unwrap();
        live.note_written(&[WrittenBack { article_id: id(1), stored: StoredViews::Gone }], at(0));
        assert_eq!((live.count(id(1)), live.unwritten()), (None, 0));
        assert_eq!(live.add(id(1), at(0)), None);
    }

    #[test]
    fn the_clean_article_viewed_longest_ago_leaves_first() {
        let mut live = live(3);
        for raw in 1..=3 {
            live.insert(id(raw), 5, at(raw)).unwrap();
        }
        live.add(id(1), at(4)).unwrap();
        live.insert(id(4), 0, at(5)).unwrap();
        assert_eq!([1, 2, 3, 4].map(|raw| live.count(id(raw))), [Some(6), None, Some(5), Some(0)]);
    }

    #[test]
    fn unwritten_counts_never_leave_for_want_of_room() {
        let mut live = live(2);
        for raw in 1..=2 {
            live.insert(id(raw), 0, at(0)).unwrap();
            live.add(id(raw), at(0)).unwrap();
        }
        assert_eq!(live.insert(id(3), 0, at(0)), Err(Full));
        live.note_written(&written(1, 1), at(0));
        live.insert(id(3), 0, at(0)).unwrap();
        assert_eq!((live.count(id(1)), live.count(id(2)), live.live()), (None, Some(1), 2));
    }

    #[derive(Debug, Clone)]
    enum Step {
        View(i64),
        Write { all: bool, fails: bool },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (1i64..9).prop_map(Step::View),
            2 => (any::<bool>(), any::<bool>()).prop_map(|(all, fails)| Step::Write { all, fails }),
        ]
    }

    proptest! {
        #[test]
        fn no_view_is_lost_whatever_is_written_fails_or_leaves(steps in prop::collection::vec(step(), 1..300)) {
            let limits = LiveLimits { write_back_views: 3, write_back_ms: 5_000, articles_max: 4, network_guests_max: 50 };
            let mut live = LiveCounts::new(limits);
            let (mut store, mut views) = (BTreeMap::new(), BTreeMap::new());
            for (number, step) in steps.into_iter().enumerate() {
                let now = at(number as i64 * 700);
                match step {
                    Step::View(raw) => {
                        let stored = store.get(&id(raw)).copied().unwrap_or(0);
                        if live.insert(id(raw), stored, now).is_ok() {
                            *views.entry(id(raw)).or_insert(0u64) += 1;
                            prop_assert_eq!(live.add(id(raw), now).unwrap().count, views[&id(raw)]);
                        }
                    }
                    Step::Write { fails: true, .. } => {}
                    Step::Write { all, .. } => {
                        for (article, count) in live.due(now, all) {
                            let before = store.insert(article, count).unwrap_or(0);
                            prop_assert!(before < count, "a written count never falls");
                            let stored = StoredViews::Count(count);
                            live.note_written(&[WrittenBack { article_id: article, stored }], now);
                        }
                    }
                }
                prop_assert!(live.live() <= 4);
            }
            for (article, count) in live.due(at(0), true) {
                store.insert(article, count);
            }
            prop_assert_eq!(store, views);
        }
    }
}
