//! Boards: where articles are written, how their comments hang together, and whether they still take changes.

use madang_board::{BoardId, CommentMode};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

/// A board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// Names the board; carries the shard of its articles.
    pub board_id: BoardId,
    /// Its short name in addresses, unique on the site.
    pub slug: String,
    /// Its name for people.
    pub title: String,
    /// What it is about; may be empty.
    #[serde(default)]
    pub description: String,
    /// Where it stands among the boards: by position, of equal ones the older first.
    #[serde(default)]
    pub position: i32,
    /// How comments are arranged.
    pub comment_mode: CommentMode,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Whether a board takes changes. Kept beside the count of its articles, which every change of one locks: so nothing
/// that is under way can slip past it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoardState {
    /// Articles come, change and go.
    #[default]
    Open,
    /// It can be read, and nothing else.
    Archived,
    /// It is being deleted, and is not there to anybody.
    Deleted,
}

impl BoardState {
    /// Archived or not.
    pub fn archived(archived: bool) -> Self {
        if archived { Self::Archived } else { Self::Open }
    }

    /// How it is written in a column.
    pub fn number(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Archived => 1,
            Self::Deleted => 2,
        }
    }

    /// The one of that number.
    pub fn numbered(number: i64) -> Option<Self> {
        [Self::Open, Self::Archived, Self::Deleted].into_iter().find(|state| i64::from(state.number()) == number)
    }
}

/// A board, and what is counted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardWithCount {
    /// The board.
    pub board: Board,
    /// Articles on it now.
    pub article_count: u64,
    /// It takes no changes.
    pub archived: bool,
    /// When the newest article was written that it has ever had; `None` before the first.
    pub last_activity_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_back_from_its_number() {
        for state in [BoardState::Open, BoardState::Archived, BoardState::Deleted] {
            assert_eq!(BoardState::numbered(state.number().into()), Some(state));
        }
        assert_eq!(BoardState::numbered(3), None);
    }

    #[test]
    fn an_answer_from_before_boards_were_described_is_still_read() {
        let kept = r#"{"board_id":"7","slug":"ab","title":"A","comment_mode":"tree",
            "created_at":"2026-01-01T00:00:00.000Z"}"#;
        let board: Board = serde_json::from_str(kept).unwrap();
        assert_eq!((board.description.as_str(), board.position), ("", 0));
    }
}
