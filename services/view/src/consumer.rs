//! What a deleted article means here: its views go.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_event::{ArticleDeletions, ArticleParts};
use madang_kernel::StoreError;

use crate::ViewService;

/// The views of articles.
pub struct ViewParts(Arc<ViewService>);

/// The consumer of article events for the owner of views.
pub fn article_deletions(views: Arc<ViewService>) -> ArticleDeletions<ViewParts> {
    let articles = views.article_lookup();
    ArticleDeletions::new(ViewParts(views), articles)
}

#[async_trait]
impl ArticleParts for ViewParts {
    fn name(&self) -> &'static str {
        "views"
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        self.0.article_deleted(article).await
    }

    /// One row an article, which the mark has replaced.
    async fn remove_slice(&self, _article: ArticleId) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn articles_with_parts(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.0.counted_after(after).await
    }

    async fn marked_articles(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.0.gone_after(after).await
    }

    async fn restore(&self, article: ArticleId) -> Result<(), StoreError> {
        self.0.restore(article).await
    }
}
