//! A cache of what is pinned on each board: every list and every article shows it, and it changes a few times a day. What
//! this process changes is forgotten at once, and a look-up that was under way meanwhile is not cached. Where other
//! processes pin too, an entry becomes stale after a TTL.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_board::{BoardId, Pin};
use madang_kernel::Timestamp;
use quick_cache::unsync::Cache;

/// Boards that are cached.
const BOARDS_MAX: usize = 16_384;

/// What is cached about the pins of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CachedPins {
    /// As they were when they were last looked up.
    Fresh(Arc<[Pin]>),
    /// As they were then, for when the store cannot be asked; it should be.
    Stale(Arc<[Pin]>),
    /// Nothing is cached.
    Miss,
}

/// The pins of the boards that this process has seen.
pub(crate) struct PinCache {
    entries: Mutex<Entries>,
    /// How long an entry is fresh; `None` where nobody else pins.
    ttl: Option<Duration>,
}

struct Entries {
    boards: Cache<BoardId, Entry>,
    /// How often this process has changed a pin.
    epoch: u64,
}

struct Entry {
    pins: Arc<[Pin]>,
    loaded_at: Timestamp,
    /// Somebody is looking them up anew.
    is_refreshing: bool,
}

impl Default for PinCache {
    fn default() -> Self {
        Self { entries: Mutex::new(Entries { boards: Cache::new(BOARDS_MAX), epoch: 0 }), ttl: None }
    }
}

impl PinCache {
    /// Entries are fresh for `ttl` from now on.
    pub(crate) fn set_ttl(&mut self, ttl: Duration) {
        self.ttl = Some(ttl);
    }

    /// What is cached about a board at `now`, and the epoch to be handed in with what a look-up finds.
    pub(crate) fn find(&self, board: BoardId, now: Timestamp) -> (CachedPins, u64) {
        let mut entries = self.entries();
        let epoch = entries.epoch;
        let cached = match entries.boards.get_mut(&board) {
            Some(mut entry) => entry.find(self.ttl, now),
            None => CachedPins::Miss,
        };
        (cached, epoch)
    }

    /// Notes what a look-up found that began at `loaded_at` and `epoch`; not if a pin was changed here meanwhile.
    pub(crate) fn note(&self, board: BoardId, pins: Arc<[Pin]>, loaded_at: Timestamp, epoch: u64) {
        let mut entries = self.entries();
        if entries.epoch == epoch {
            entries.boards.insert(board, Entry { pins, loaded_at, is_refreshing: false });
        }
    }

    /// Forgets a board whose pins were changed here.
    pub(crate) fn forget(&self, board: BoardId) {
        let mut entries = self.entries();
        entries.epoch += 1;
        entries.boards.remove(&board);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Past half of the TTL one caller is told to ask the store, while the others go on with what is cached.
    fn find(&mut self, ttl: Option<Duration>, now: Timestamp) -> CachedPins {
        let pins = Arc::clone(&self.pins);
        let Some(ttl) = ttl else { return CachedPins::Fresh(pins) };
        let age = now.since(self.loaded_at);
        // A clock that stepped back must not make an entry last.
        if self.loaded_at > now || age >= ttl {
            return CachedPins::Stale(pins);
        }
        if age < ttl / 2 || mem::replace(&mut self.is_refreshing, true) {
            return CachedPins::Fresh(pins);
        }
        CachedPins::Stale(pins)
    }
}

#[cfg(test)]
mod tests {
    use madang_board::ArticleId;
    use madang_kernel::Id;

    use super::*;

    fn board() -> BoardId {
        BoardId::from_raw(1)
    }

    fn pins() -> Arc<[Pin]> {
        let article_id = ArticleId::from_raw(2);
        [Pin { article_id, board_id: board(), pinned_at: Timestamp::from_millis(0), until: None }].into()
    }

    fn at(cache: &PinCache, ms: i64) -> CachedPins {
        cache.find(board(), Timestamp::from_millis(ms)).0
    }

    #[test]
    fn a_look_up_that_was_under_way_while_a_pin_changed_is_not_cached() {
        let cache = PinCache::default();
        let (_, epoch) = cache.find(board(), Timestamp::from_millis(0));
        cache.forget(board());
        cache.note(board(), pins(), Timestamp::from_millis(0), epoch);
        assert_eq!(at(&cache, 0), CachedPins::Miss);
        cache.note(board(), pins(), Timestamp::from_millis(0), epoch + 1);
        assert_eq!(at(&cache, i64::MAX), CachedPins::Fresh(pins()), "nobody else pins");
    }

    #[test]
    fn beside_others_an_entry_is_fresh_for_a_moment_and_kept_for_an_outage() {
        let mut cache = PinCache::default();
        cache.set_ttl(Duration::from_millis(500));
        cache.note(board(), pins(), Timestamp::from_millis(1_000), 0);
        assert_eq!(at(&cache, 1_249), CachedPins::Fresh(pins()));
        assert_eq!(at(&cache, 1_250), CachedPins::Stale(pins()), "one looks them up anew");
        assert_eq!(at(&cache, 1_250), CachedPins::Fresh(pins()), "the others do not wait for that");
        assert_eq!(at(&cache, 1_500), CachedPins::Stale(pins()));
        assert_eq!(at(&cache, 999), CachedPins::Stale(pins()), "the clock stepped back");
    }
}
