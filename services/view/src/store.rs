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

/// The stored counter of an article. One that nobody ever viewed counts 0 at version 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewCount {
    /// Views written so far.
    pub view_count: u64,
    /// Grows by one with each write-back that changed it: the newer count wins.
    pub version: u64,
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

    /// The stored counters of articles with their versions, in the order asked; `None` for one that is marked as gone.
    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ViewCount>>, StoreError>;

    /// Stores each count that is greater than the stored one, its version one higher, with one `ArticleViewed`. A count
    /// that is not greater changes nothing and reports nothing; one of a deleted article neither. Answers in the order
    /// given.
    async fn write_back(&self, counts: Vec<WriteBack>) -> Result<Vec<WrittenBack>, StoreError>;

    /// Marks an article as deleted, for good, and removes its count in the same transaction: it is one row. Again: nothing.
    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError>;

    /// Up to `limit` articles with a stored count, by id, after `after`: for finding those whose deletion was missed.
    async fn counted_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError>;
    /// Up to `limit` articles that are marked as deleted, by id, after `after`: what a check looks through.
    async fn gone_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError>;
    /// Takes the mark from an article that was never deleted: its count is what it was, at the same version. Of one without
    /// a mark nothing changes.
    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError>;
}
