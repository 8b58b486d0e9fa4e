//! What a deleted article means here: its comments go.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, ArticleLookup};
use madang_event::{ArticleDeletions, ArticleParts};
use madang_kernel::{PageSize, StoreError};

use crate::CommentStore;

/// Comments removed in one transaction: people who write wait no longer than such a slice takes.
pub const CLEAN_UP_SLICE_ROWS: u32 = 200;

/// The comments of articles.
pub struct CommentParts(Arc<dyn CommentStore>);

/// The consumer of article events for the owner of comments.
pub fn article_deletions(
    store: Arc<dyn CommentStore>,
    articles: Arc<dyn ArticleLookup>,
) -> ArticleDeletions<CommentParts> {
    ArticleDeletions::new(CommentParts(store), articles)
}

#[async_trait]
impl ArticleParts for CommentParts {
    fn name(&self) -> &'static str {
        "comments"
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        self.0.mark_article_gone(article).await
    }

    async fn remove_slice(&self, article: ArticleId) -> Result<bool, StoreError> {
        Ok(self.0.clean_up(article, CLEAN_UP_SLICE_ROWS).await? < CLEAN_UP_SLICE_ROWS)
    }

    async fn articles_with_parts(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.0.counted_articles(after, PageSize::DEFAULT).await
    }

    async fn marked_articles(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.0.gone_articles(after, PageSize::DEFAULT).await
    }

    async fn restore(&self, article: ArticleId) -> Result<(), StoreError> {
        self.0.restore_article(article).await
    }
}
