//! Articles as values.

use madang_board::{ArticleId, BoardId, Removal};
use madang_event::Writer;
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

/// An article with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Article {
    /// Names the article; carries its board's shard.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// The headline.
    pub title: String,
    /// The text as written.
    pub content: String,
    /// The text as shown, rendered once for this version.
    pub content_html: String,
    /// Who wrote it.
    pub writer: Writer,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// 1 when created, and one more with each edit and each pin that is set or taken away.
    pub version: u64,
}

/// An article that a moderator removed, and may restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedArticle {
    /// As it was; its tombstone is one version above.
    pub article: Article,
    /// Who removed it, when and why.
    pub removal: Removal,
}

impl Article {
    /// What is told of an article once it is deleted: its place, neither headline nor text.
    pub fn into_mark(self) -> Self {
        Self { title: String::new(), content: String::new(), content_html: String::new(), ..self }
    }

    /// Whether only its place is told. What people write is never blank.
    pub fn is_mark(&self) -> bool {
        self.content.is_empty()
    }
}
