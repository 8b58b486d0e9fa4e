//! The owners of what is indexed, as narrow look-ups: many at once, as they have it now.

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId, CommentId};
use madang_kernel::StoreError;

use crate::{FoundComment, SourceArticle, SourceComment};

/// Articles or comments that one call may ask for.
pub const OWNERS_MANY_MAX: usize = 256;

/// Whoever has the texts.
#[async_trait]
pub trait SearchOwners: Send + Sync {
    /// Articles in the order asked, at most [`OWNERS_MANY_MAX`]; `None` for one that cannot be read.
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<SourceArticle>>, StoreError>;
    /// Comments in the order asked, at most [`OWNERS_MANY_MAX`], whether their articles can be read or not.
    async fn comments(&self, comments: &[CommentId]) -> Result<Vec<FoundComment>, StoreError>;

    /// Every board, in an order that stays.
    async fn boards(&self) -> Result<Vec<BoardId>, StoreError>;
    /// Articles of a board below `before`, newest first; none at the end.
    async fn articles_before(&self, board: BoardId, before: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError>;
    /// Articles that may have comments, by id, after `after`; none at the end.
    async fn commented_after(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError>;
    /// The comments of an article that can be read, after a cursor of the same list, and the next cursor. Of one that cannot be
    /// read itself, none.
    async fn comments_of(
        &self,
        article: ArticleId,
        after: Option<String>,
    ) -> Result<(Vec<SourceComment>, Option<String>), StoreError>;
}
