//! What happens to articles. Every event carries the whole state, so a consumer that missed one is put right by the next.

use madang_board::{ArticleId, BoardId, MemberId};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

/// Who wrote something, with the name they had at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// The member.
    pub member_id: MemberId,
    /// Their name when they wrote.
    pub name: String,
}

/// How many articles a board holds, after the change that the event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardCount {
    /// Articles on the board.
    pub article_count: u64,
    /// Grows by one with each change of the count: the newer one wins.
    pub version: u64,
}

/// An article as it stands after it was created or edited; the envelope's version is the article's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleState {
    /// The article.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// The headline.
    pub title: String,
    /// The text as written, in Markdown.
    pub content: String,
    /// The text as shown: rendered and cleaned once per version by the owner.
    pub content_html: String,
    /// Who wrote it.
    pub writer: Writer,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// The board's count after this change.
    pub board_count: BoardCount,
}

/// An article is gone; its version is above every earlier one, so nothing late brings it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleDeleted {
    /// The article.
    pub article_id: ArticleId,
    /// The board it was on.
    pub board_id: BoardId,
    /// The board's count after this change.
    pub board_count: BoardCount,
}
