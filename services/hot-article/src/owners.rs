//! The port to the owners of what is scored. Events alone keep the scores; only a rebuild and a check ask the owners, because
//! an event that was missed or forged is not corrected by another.

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId};
use madang_kernel::StoreError;

use crate::Counts;

/// The owners of articles, likes, comments and views. What they answer holds everything committed before the call.
#[async_trait]
pub trait HotOwners: Send + Sync {
    /// Every board.
    async fn boards(&self) -> Result<Vec<BoardId>, StoreError>;
    /// The articles of a board before `before`, or its newest, newest first; fewer than a slice only at the end.
    async fn articles_before(&self, board: BoardId, before: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError>;
    /// The counters of articles with their versions, in the order asked; `None` for an article that is not there.
    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Counts>>, StoreError>;
}
