//! Boards: where articles are written, and how their comments hang together.

use madang_kernel::{BoardId, Timestamp};
use serde::{Deserialize, Serialize};

/// How the comments of a board's articles are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentMode {
    /// Comments and replies to them, no deeper.
    TwoLevel,
    /// Replies to replies, down to the configured depth.
    Tree,
}

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
