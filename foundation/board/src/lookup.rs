//! What services may ask one another at once: whether an article, a board or a comment exists, and how comments are
//! arranged. A local call in one process, an HTTP call between processes; everything else travels as events.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use madang_kernel::StoreError;

use crate::{ArticleId, BoardId, CommentId};

/// How the comments of a board's articles are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentMode {
    /// Comments and replies to them, no deeper.
    TwoLevel,
    /// Replies to replies, down to the configured depth.
    Tree,
}

names!(CommentMode { TwoLevel = "two_level", Tree = "tree" });

/// What is known of an article that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleFacts {
    /// The board it is on.
    pub board_id: BoardId,
    /// How its comments are arranged.
    pub comment_mode: CommentMode,
    /// Its board takes no changes. A process of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// Asks the owner of articles. Answers may come from a cache, but an article deleted in this process is gone at once.
#[async_trait]
pub trait ArticleLookup: Send + Sync {
    /// `None` when there is no such article.
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError>;

    /// Whether articles exist as their owner has them stored now, those that a moderator removed and may restore included, in
    /// the order asked: for what must not believe a cache, and must not destroy what may come back. Who has one answers
    /// past it.
    async fn exist(&self, articles: &[ArticleId]) -> Result<Vec<bool>, StoreError> {
        let mut exist = Vec::with_capacity(articles.len());
        for article in articles {
            exist.push(self.facts(*article).await?.is_some());
        }
        Ok(exist)
    }
}

/// Asks the owner of boards.
#[async_trait]
pub trait BoardLookup: Send + Sync {
    /// Whether there is such a board.
    async fn has_board(&self, board: BoardId) -> Result<bool, StoreError>;
}

/// Asks the owner of comments.
#[async_trait]
pub trait CommentLookup: Send + Sync {
    /// The article of a comment that can be read; `None` when there is no such comment, or it is deleted.
    async fn article_of(&self, comment: CommentId) -> Result<Option<ArticleId>, StoreError>;
}
