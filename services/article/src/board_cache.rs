//! A cache of which boards exist, how their comments are arranged and whether they are archived, so that writing to a board
//! costs no query. What this process changes is forgotten at once, and a look-up that was under way meanwhile is not
//! cached. Where other processes change boards too, an entry becomes stale after a TTL. That a board does not exist is
//! cached for a moment only, since another process may create it.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_board::{BoardId, CommentMode};
use madang_kernel::Timestamp;
use quick_cache::unsync::Cache;

/// Boards that are cached.
const BOARDS_MAX: usize = 100_000;
/// Absent boards that are cached: guesses fill no memory.
const ABSENT_BOARDS_MAX: usize = 1_024;
/// How long an absence is fresh.
const ABSENT_TTL: Duration = Duration::from_millis(1_000);

/// What writing to a board depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoardFacts {
    /// How the comments are arranged.
    pub(crate) comment_mode: CommentMode,
    /// It takes no changes.
    pub(crate) archived: bool,
}

/// What is cached about a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachedBoard {
    /// It was there when it was last looked up.
    There(BoardFacts),
    /// It was not there a moment ago.
    Absent,
    /// Nothing fresh: ask the store.
    Miss,
}

/// The boards that this process has seen, or looked for in vain.
pub(crate) struct BoardCache {
    entries: Mutex<Entries>,
    /// How long an entry is fresh; `None` where nobody else changes boards.
    ttl: Option<Duration>,
}

struct Entries {
    existing: Cache<BoardId, Entry>,
    absent_since: Cache<BoardId, Timestamp>,
    /// How often this process has changed a board.
    epoch: u64,
}

struct Entry {
    facts: BoardFacts,
    loaded_at: Timestamp,
    /// Somebody is looking it up anew.
    is_refreshing: bool,
}

impl Default for BoardCache {
    fn default() -> Self {
        let (existing, absent_since) = (Cache::new(BOARDS_MAX), Cache::new(ABSENT_BOARDS_MAX));
        Self { entries: Mutex::new(Entries { existing, absent_since, epoch: 0 }), ttl: None }
    }
}

impl BoardCache {
    /// Entries are fresh for `ttl` from now on.
    pub(crate) fn set_ttl(&mut self, ttl: Duration) {
        self.ttl = Some(ttl);
    }

    /// What is cached about the board at `now`.
    pub(crate) fn find(&self, board: BoardId, now: Timestamp) -> CachedBoard {
        let mut entries = self.entries();
        if let Some(mut entry) = entries.existing.get_mut(&board) {
            return entry.find(self.ttl, now);
        }
        let since = entries.absent_since.get(&board).copied();
        // A clock that stepped back must not make an absence last.
        let is_fresh = since.is_some_and(|since| since <= now && now.since(since) < ABSENT_TTL);
        if is_fresh { CachedBoard::Absent } else { CachedBoard::Miss }
    }

    /// To be asked before a look-up, and handed in with what it found.
    pub(crate) fn epoch(&self) -> u64 {
        self.entries().epoch
    }

    /// Notes what a look-up found that began at `loaded_at` and `epoch`; not if a board was changed here meanwhile.
    pub(crate) fn note_existing(&self, board: BoardId, facts: BoardFacts, loaded_at: Timestamp, epoch: u64) {
        let mut entries = self.entries();
        entries.absent_since.remove(&board);
        if entries.epoch == epoch {
            entries.existing.insert(board, Entry { facts, loaded_at, is_refreshing: false });
        }
    }

    /// Notes that a board did not exist at `now`.
    pub(crate) fn note_absent(&self, board: BoardId, now: Timestamp) {
        let mut entries = self.entries();
        entries.existing.remove(&board);
        entries.absent_since.insert(board, now);
    }

    /// Forgets a board that was changed here.
    pub(crate) fn forget(&self, board: BoardId) {
        let mut entries = self.entries();
        entries.epoch += 1;
        entries.existing.remove(&board);
        entries.absent_since.remove(&board);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Past half of the TTL one caller is told to ask the store, while the others go on with what is cached.
    fn find(&mut self, ttl: Option<Duration>, now: Timestamp) -> CachedBoard {
        let Some(ttl) = ttl else { return CachedBoard::There(self.facts) };
        let age = now.since(self.loaded_at);
        // A clock that stepped back must not make an entry last.
        if self.loaded_at > now || age >= ttl {
            return CachedBoard::Miss;
        }
        if age < ttl / 2 || mem::replace(&mut self.is_refreshing, true) {
            return CachedBoard::There(self.facts);
        }
        CachedBoard::Miss
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    const FACTS: BoardFacts = BoardFacts { comment_mode: CommentMode::Tree, archived: false };

    fn board() -> BoardId {
        BoardId::from_raw(1)
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn an_absence_is_fresh_for_a_moment_only() {
        let cache = BoardCache::default();
        assert_eq!(cache.find(board(), at(1_000)), CachedBoard::Miss);
        cache.note_absent(board(), at(1_000));
        assert_eq!(cache.find(board(), at(1_999)), CachedBoard::Absent);
        assert_eq!(cache.find(board(), at(2_000)), CachedBoard::Miss);
        assert_eq!(cache.find(board(), at(0)), CachedBoard::Miss, "the clock stepped back");
        cache.note_existing(board(), FACTS, at(1_000), cache.epoch());
        assert_eq!(cache.find(board(), at(1_000)), CachedBoard::There(FACTS));
    }

    #[test]
    fn a_look_up_that_a_change_overtook_is_not_cached() {
        let cache = BoardCache::default();
        let epoch = cache.epoch();
        cache.forget(board());
        cache.note_existing(board(), FACTS, at(0), epoch);
        assert_eq!(cache.find(board(), at(0)), CachedBoard::Miss);
        cache.note_existing(board(), FACTS, at(0), cache.epoch());
        assert_eq!(cache.find(board(), at(i64::MAX)), CachedBoard::There(FACTS), "nobody else changes it");
    }

    #[test]
    fn beside_others_an_entry_is_fresh_for_a_moment_only() {
        let mut cache = BoardCache::default();
        cache.set_ttl(Duration::from_millis(500));
        cache.note_existing(board(), FACTS, at(1_000), cache.epoch());
        assert_eq!(cache.find(board(), at(1_249)), CachedBoard::There(FACTS));
        assert_eq!(cache.find(board(), at(1_250)), CachedBoard::Miss, "one looks it up anew");
        assert_eq!(cache.find(board(), at(1_499)), CachedBoard::There(FACTS), "the others do not wait for that");
        assert_eq!(cache.find(board(), at(1_500)), CachedBoard::Miss);
        assert_eq!(cache.find(board(), at(999)), CachedBoard::Miss, "the clock stepped back");
    }

    #[test]
    fn guesses_at_boards_fill_no_memory() {
        let cache = BoardCache::default();
        for raw in 1..=10_000 {
            cache.note_absent(BoardId::from_raw(raw), at(0));
        }
        assert!(cache.entries().absent_since.len() <= ABSENT_BOARDS_MAX);
    }
}
