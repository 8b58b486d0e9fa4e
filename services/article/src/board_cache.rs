//! A cache of which boards exist and how their comments are arranged, so that writing to a board that was seen once costs no
//! query. Boards are never removed and keep their arrangement, so an entry never becomes stale. That a board does not exist
//! is cached too, for a moment only, since another process may create it.

use std::time::Duration;

use madang_board::{BoardId, CommentMode};
use madang_kernel::Timestamp;
use quick_cache::sync::Cache;

/// Boards that are cached.
const BOARDS_MAX: usize = 100_000;
/// Absent boards that are cached: guesses fill no memory.
const ABSENT_BOARDS_MAX: usize = 1_024;
/// How long an absence is fresh.
const ABSENT_TTL: Duration = Duration::from_millis(1_000);

/// The boards that this process has seen, or looked for in vain.
pub(crate) struct BoardCache {
    existing: Cache<BoardId, CommentMode>,
    absent_since: Cache<BoardId, Timestamp>,
}

impl Default for BoardCache {
    fn default() -> Self {
        Self { existing: Cache::new(BOARDS_MAX), absent_since: Cache::new(ABSENT_BOARDS_MAX) }
    }
}

impl BoardCache {
    /// Whether the board exists, as far as is cached at `now`.
    pub(crate) fn exists(&self, board: BoardId, now: Timestamp) -> Option<bool> {
        if self.existing.get(&board).is_some() {
            return Some(true);
        }
        let since = self.absent_since.get(&board)?;
        // A clock that stepped back must not make an absence last.
        let is_fresh = since <= now && now.since(since) < ABSENT_TTL;
        is_fresh.then_some(false)
    }

    /// How the comments of a board are arranged, if it has been seen.
    pub(crate) fn comment_mode(&self, board: BoardId) -> Option<CommentMode> {
        self.existing.get(&board)
    }

    /// Notes that a board exists.
    pub(crate) fn note_existing(&self, board: BoardId, mode: CommentMode) {
        self.existing.insert(board, mode);
        self.absent_since.remove(&board);
    }

    /// Notes that a board did not exist at `now`.
    pub(crate) fn note_absent(&self, board: BoardId, now: Timestamp) {
        self.absent_since.insert(board, now);
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn an_absence_is_fresh_for_a_moment_only() {
        let boards = BoardCache::default();
        let (board, start) = (BoardId::from_raw(1), Timestamp::from_millis(1_000_000));
        assert_eq!(boards.exists(board, start), None);
        boards.note_absent(board, start);
        assert_eq!(boards.exists(board, start.plus(Duration::from_millis(999))), Some(false));
        assert_eq!(boards.exists(board, start.plus(Duration::from_millis(1_000))), None);
        assert_eq!(boards.exists(board, Timestamp::from_millis(0)), None, "the clock stepped back");
        boards.note_existing(board, CommentMode::Tree);
        boards.note_absent(board, start);
        assert_eq!(boards.exists(board, start), Some(true), "a late absence does not hide a board");
        assert_eq!(boards.comment_mode(board), Some(CommentMode::Tree));
    }

    #[test]
    fn guesses_at_boards_fill_no_memory() {
        let boards = BoardCache::default();
        for raw in 1..=10_000 {
            boards.note_absent(BoardId::from_raw(raw), Timestamp::from_millis(0));
        }
        // Rounded up in each shard of the cache.
        assert!(boards.absent_since.len() <= 2 * ABSENT_BOARDS_MAX);
    }
}
