//! What a deleted article means here: its likes go.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, ArticleLookup};
use madang_event::{ArticleDeletions, ArticleParts};
use madang_kernel::{IdGenerator, PageSize, ShardId, StoreError};

use crate::LikeStore;

/// Likes removed by one transaction, so that nobody waits long behind it.
pub const CLEAN_UP_SLICE_ROWS: usize = 500;

/// The likes of articles.
pub struct LikeParts {
    store: Arc<dyn LikeStore>,
    ids: Arc<IdGenerator>,
}

/// The consumer of article events for the owner of likes; `ids` name what it reports itself.
pub fn article_deletions(
    store: Arc<dyn LikeStore>,
    articles: Arc<dyn ArticleLookup>,
    ids: Arc<IdGenerator>,
) -> ArticleDeletions<LikeParts> {
    ArticleDeletions::new(LikeParts { store, ids }, articles)
}

#[async_trait]
impl ArticleParts for LikeParts {
    fn name(&self) -> &'static str {
        "likes"
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        self.store.mark_article_gone(article).await.map(drop)
    }

    async fn remove_slice(&self, article: ArticleId) -> Result<bool, StoreError> {
        Ok(self.store.clean_up(article, CLEAN_UP_SLICE_ROWS).await?.done)
    }

    async fn articles_with_parts(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.store.counted_articles(after, PageSize::DEFAULT).await
    }

    async fn marked_articles(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.store.gone_articles(after, PageSize::DEFAULT).await
    }

    async fn restore(&self, article: ArticleId) -> Result<(), StoreError> {
        let event_id = self.ids.next(ShardId::of_parts(article))?;
        self.store.restore_article(article, event_id).await
    }
}
