//! A store and a site in memory, for the tests of this crate: it keeps the port's promises and can be away.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_board::{ArticleFacts, ArticleId, ArticleLookup, BoardId, CommentMode};
use madang_kernel::{Id, StoreError};

use crate::{StoredViews, ViewCount, ViewStore, WriteBack, WrittenBack};

#[derive(Default)]
pub(crate) struct MemoryViews {
    rows: Mutex<Rows>,
    pub(crate) away: AtomicBool,
    pub(crate) finds: AtomicUsize,
    /// An article whose row is a defect: whatever writes it fails whole.
    pub(crate) broken: Mutex<Option<ArticleId>>,
}

#[derive(Default)]
struct Rows {
    counts: BTreeMap<ArticleId, u64>,
    gone: HashSet<ArticleId>,
    reported: HashMap<ArticleId, Vec<u64>>,
}

impl MemoryViews {
    /// The counts reported by events, in order.
    pub(crate) fn reported(&self, article: ArticleId) -> Vec<u64> {
        self.rows.lock().unwrap().reported.get(&article).cloned().unwrap_or_default()
    }

    pub(crate) fn stored(&self, article: ArticleId) -> StoredViews {
        self.rows.lock().unwrap().stored(article)
    }

    fn rows(&self) -> Result<MutexGuard<'_, Rows>, StoreError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("memory", "away"));
        }
        Ok(self.rows.lock().unwrap())
    }
}

impl Rows {
    fn stored(&self, article: ArticleId) -> StoredViews {
        match self.gone.contains(&article) {
            true => StoredViews::Gone,
            false => StoredViews::Count(self.counts.get(&article).copied().unwrap_or(0)),
        }
    }
}

#[async_trait]
impl ViewStore for MemoryViews {
    async fn find(&self, article: ArticleId) -> Result<StoredViews, StoreError> {
        self.finds.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        Ok(self.rows()?.stored(article))
    }

    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<StoredViews>, StoreError> {
        let rows = self.rows()?;
        Ok(articles.into_iter().map(|article| rows.stored(article)).collect())
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ViewCount>>, StoreError> {
        let rows = self.rows()?;
        let version = |article: &ArticleId| rows.reported.get(article).map_or(0, |reported| reported.len() as u64);
        let count = |article: &ArticleId| match rows.stored(*article) {
            StoredViews::Count(view_count) => Some(ViewCount { view_count, version: version(article) }),
            StoredViews::Gone => None,
        };
        Ok(articles.iter().map(count).collect())
    }

    async fn write_back(&self, counts: Vec<WriteBack>) -> Result<Vec<WrittenBack>, StoreError> {
        tokio::task::yield_now().await;
        let broken = *self.broken.lock().unwrap();
        if counts.iter().any(|back| Some(back.article_id) == broken) {
            return Err(StoreError::broken("memory", "a row that should not exist"));
        }
        let mut rows = self.rows()?;
        let mut answers = Vec::new();
        for WriteBack { article_id, view_count, .. } in counts {
            if matches!(rows.stored(article_id), StoredViews::Count(stored) if view_count > stored) {
                rows.counts.insert(article_id, view_count);
                rows.reported.entry(article_id).or_default().push(view_count);
            }
            answers.push(WrittenBack { article_id, stored: rows.stored(article_id) });
        }
        Ok(answers)
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        let mut rows = self.rows()?;
        rows.gone.insert(article);
        rows.counts.remove(&article);
        Ok(())
    }

    async fn counted_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows()?;
        let later = rows.counts.keys().filter(|article| after.is_none_or(|after| **article > after));
        Ok(later.take(limit).copied().collect())
    }

    async fn gone_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows()?;
        let mut later: Vec<_> = rows.gone.iter().copied().filter(|id| after.is_none_or(|after| *id > after)).collect();
        later.sort_unstable();
        later.truncate(limit);
        Ok(later)
    }

    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError> {
        self.rows()?.gone.remove(&article);
        Ok(())
    }
}

/// A site on which every article exists but those removed.
#[derive(Default)]
pub(crate) struct MemorySite(pub(crate) Mutex<HashSet<ArticleId>>);

#[async_trait]
impl ArticleLookup for MemorySite {
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        let facts = ArticleFacts { board_id: BoardId::from_raw(1), comment_mode: CommentMode::Tree, archived: false };
        Ok((!self.0.lock().unwrap().contains(&article)).then_some(facts))
    }
}
