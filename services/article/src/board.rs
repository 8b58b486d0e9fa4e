//! Boards: where articles are written, and how their comments hang together.

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
    /// How comments are arranged.
    pub comment_mode: CommentMode,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A board and the number of articles on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardWithCount {
    /// The board.
    pub board: Board,
    /// Articles on it now.
    pub article_count: u64,
}
