//! Live counts in the memory of one process: nothing in here waits for anybody but the holder of a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::{StoreError, Timestamp};

use crate::{GuestKey, LiveCounts, LiveView, LiveViews, ViewConfig, Viewer, Window, WrittenBack};

/// Live counts of one process. What is not written back is lost with it.
pub struct MemoryLiveViews {
    window: Window,
    counts: Mutex<LiveCounts>,
}

impl MemoryLiveViews {
    /// None yet; `key` scatters the window.
    pub fn new(config: &ViewConfig, key: &GuestKey) -> Self {
        let window = Window::new(config.window_entries, key.window_seed());
        Self { window, counts: Mutex::new(LiveCounts::new(config.live)) }
    }

    /// How many articles are live.
    pub fn live(&self) -> usize {
        self.counts_now().live()
    }

    fn counts_now(&self) -> MutexGuard<'_, LiveCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl LiveViews for MemoryLiveViews {
    async fn view(&self, article: ArticleId, viewer: Viewer, now: Timestamp) -> Result<LiveView, StoreError> {
        let mut counts = self.counts_now();
        let Some(count) = counts.count(article) else { return Ok(LiveView::NotLive) };
        // The window is asked last: it must remember only what is counted.
        if !self.window.admit(viewer, article, now) {
            return Ok(LiveView::Seen { count });
        }
        let added = counts.add(article, now);
        Ok(added.map_or(LiveView::NotLive, |added| LiveView::Counted { count: added.count, is_due: added.is_due }))
    }

    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let counts = self.counts_now();
        Ok(articles.iter().map(|article| counts.count(*article)).collect())
    }

    fn at_hand(&self, article: ArticleId) -> Option<u64> {
        self.counts_now().count(article)
    }

    async fn insert(&self, stored: &[(ArticleId, u64)], now: Timestamp) -> Result<Vec<Option<u64>>, StoreError> {
        let mut counts = self.counts_now();
        Ok(stored.iter().map(|(article, stored)| counts.insert(*article, *stored, now).ok()).collect())
    }

    async fn due(&self, now: Timestamp, all: bool) -> Result<Vec<(ArticleId, u64)>, StoreError> {
        Ok(self.counts_now().due(now, all))
    }

    async fn note_written(&self, answers: &[WrittenBack], taken_at: Timestamp) -> Result<(), StoreError> {
        self.counts_now().note_written(answers, taken_at);
        Ok(())
    }

    async fn forget(&self, article: ArticleId) -> Result<(), StoreError> {
        self.counts_now().forget(article);
        Ok(())
    }

    fn unwritten(&self) -> usize {
        self.counts_now().unwritten()
    }
}
