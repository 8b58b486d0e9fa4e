//! Remembers which boards exist and how their comments are arranged, so that writing to a board that was seen once costs
//! no query. Boards are few, are never removed and keep their arrangement, so what is known stays true; what is unknown is believed for a moment only, since another process
//! may create the board.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use madang_board::{BoardId, CommentMode};
use madang_kernel::Timestamp;

/// Boards that are remembered; past it, the store is asked.
const KNOWN_BOARDS_MAX: usize = 100_000;
/// Absent boards that are remembered; past it, all of them are forgotten.
const ABSENT_BOARDS_MAX: usize = 1_024;
/// How long an absent board is believed to be absent.
const ABSENT_MS: u64 = 1_000;

/// The boards that this process has seen.
#[derive(Default)]
pub(crate) struct KnownBoards(RwLock<Seen>);

#[derive(Default)]
struct Seen {
    existing: HashMap<BoardId, CommentMode>,
    absent_since: HashMap<BoardId, Timestamp>,
}

impl KnownBoards {
    /// Whether the board exists, as far as is known at `now`.
    pub(crate) fn exists(&self, board: BoardId, now: Timestamp) -> Option<bool> {
        let seen = self.read();
        if seen.existing.contains_key(&board) {
            return Some(true);
        }
        let since = *seen.absent_since.get(&board)?;
        // A clock that stepped back must not make an absence last.
        let fresh = since <= now && now.since(since) < Duration::from_millis(ABSENT_MS);
        fresh.then_some(false)
    }

    /// How the comments of a board are arranged, if it has been seen.
    pub(crate) fn comment_mode(&self, board: BoardId) -> Option<CommentMode> {
        self.read().existing.get(&board).copied()
    }

    /// Notes that a board exists.
    pub(crate) fn note_existing(&self, board: BoardId, mode: CommentMode) {
        let mut seen = self.write();
        seen.absent_since.remove(&board);
        if seen.existing.len() < KNOWN_BOARDS_MAX {
            seen.existing.insert(board, mode);
        }
    }

    /// Notes that a board did not exist at `now`.
    pub(crate) fn note_absent(&self, board: BoardId, now: Timestamp) {
        let mut seen = self.write();
        if seen.absent_since.len() >= ABSENT_BOARDS_MAX {
            seen.absent_since.clear();
        }
        seen.absent_since.insert(board, now);
    }

    fn read(&self) -> RwLockReadGuard<'_, Seen> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Seen> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn an_absent_board_is_believed_for_a_moment_only() {
        let boards = KnownBoards::default();
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
        let boards = KnownBoards::default();
        for raw in 1..=10_000 {
            boards.note_absent(BoardId::from_raw(raw), Timestamp::from_millis(0));
        }
        assert!(boards.read().absent_since.len() <= ABSENT_BOARDS_MAX);
    }
}
