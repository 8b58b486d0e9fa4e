//! What services may ask one another at once: whether an article exists, and how its comments are arranged. A local call
//! in one process, an HTTP call between processes; everything else travels as events.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{ArticleId, BoardId, StoreError};

/// How the comments of a board's articles are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentMode {
    /// Comments and replies to them, no deeper.
    TwoLevel,
    /// Replies to replies, down to the configured depth.
    Tree,
}

/// What is known of an article that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArticleFacts {
    /// The board it is on.
    pub board_id: BoardId,
    /// How its comments are arranged.
    pub comment_mode: CommentMode,
}

/// Asks the owner of articles. Answers may come from a cache, but an article deleted in this process is gone at once.
#[async_trait]
pub trait ArticleLookup: Send + Sync {
    /// `None` when there is no such article.
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError>;
}
