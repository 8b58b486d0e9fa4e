//! The port to the stored view counts. One method is one transaction: counts and their events commit together or not at all.

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::{EventId, StoreError};

/// What is stored of an article's views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredViews {
    /// Views written so far; 0 when none ever was.
    Count(u64),
    /// The article was deleted, for good.
    Gone,
}

/// A live count to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBack {
    /// The article.
    pub article_id: ArticleId,
    /// Its views so far, all of them.
    pub view_count: u64,
    /// Names the event that reports it.
    pub event_id: EventId,
}

/// What became of a live count: what is stored now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenBack {
    /// The article.
    pub article_id: ArticleId,
    /// The greater of what was stored and what was handed in.
    pub stored: StoredViews,
}

/// Where view counts are kept.
#[async_trait]
pub trait ViewStore: Send + Sync {
    /// What is stored of one article.
    async fn find(&self, article: ArticleId) -> Result<StoredViews, StoreError>;
    /// What is stored of many, in the order asked.
    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<StoredViews>, StoreError>;

    /// Stores each count that is greater than the stored one, its version one higher, with one `ArticleViewed`. A count
    /// that is not greater changes nothing and reports nothing; one of a deleted article neither. Answers in the order
    /// given.
    async fn write_back(&self, counts: Vec<WriteBack>) -> Result<Vec<WrittenBack>, StoreError>;

    /// Marks an article as deleted, for good, and removes its count in the same transaction: it is one row. Again: nothing.
    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError>;

    /// Up to `limit` articles with a stored count, by id, after `after`: for finding those whose deletion was missed.
    async fn counted_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError>;
}
