//! Live counts in the memory of one process: nothing in here waits for anybody but the holder of a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::{StoreError, Timestamp};

use crate::network_guests::NetworkGuests;
use crate::{GuestKey, LiveCounts, LiveView, LiveViews, ViewConfig, Viewer, Window, WrittenBack};

/// Live counts of one process. What is not written back is lost with it.
pub struct MemoryLiveViews {
    window: Window,
    counts: Mutex<Counts>,
    network_guests_max: u32,
}

/// What changes together.
struct Counts {
    live: LiveCounts,
    networks: NetworkGuests,
}

impl MemoryLiveViews {
    /// None yet; `key` scatters the window.
    pub fn new(config: &ViewConfig, key: &GuestKey) -> Self {
        let window = Window::new(config.window_entries, key.window_seed());
        let counts = Counts { live: LiveCounts::new(config.live), networks: NetworkGuests::new(key.window_seed()) };
        Self { window, counts: Mutex::new(counts), network_guests_max: config.live.network_guests_max }
    }

    /// How many articles are live.
    pub fn live(&self) -> usize {
        self.counts_now().live.live()
    }

    fn counts_now(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl LiveViews for MemoryLiveViews {
    async fn view(&self, article: ArticleId, viewer: Viewer, now: Timestamp) -> Result<LiveView, StoreError> {
        let mut counts = self.counts_now();
        let Some(count) = counts.live.count(article) else { return Ok(LiveView::NotLive) };
        let guests = viewer.network().map_or(0, |network| counts.networks.counted(network, article, now));
        if viewer.network().is_some() && guests >= self.network_guests_max {
            return Ok(LiveView::Seen { count });
        }
        // The window is asked last: it must remember only what is counted.
        if !self.window.admit(viewer, article, now) {
            return Ok(LiveView::Seen { count });
        }
        if let Some(network) = viewer.network() {
            counts.networks.add(network, article, now);
        }
        let added = counts.live.add(article, now);
        Ok(added.map_or(LiveView::NotLive, |added| LiveView::Counted { count: added.count, is_due: added.is_due }))
    }

    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let counts = self.counts_now();
        Ok(articles.iter().map(|article| counts.live.count(*article)).collect())
    }

    fn at_hand(&self, article: ArticleId) -> Option<u64> {
        self.counts_now().live.count(article)
    }

    async fn insert(&self, stored: &[(ArticleId, u64)], now: Timestamp) -> Result<Vec<Option<u64>>, StoreError> {
        let mut counts = self.counts_now();
        Ok(stored.iter().map(|(article, stored)| counts.live.insert(*article, *stored, now).ok()).collect())
    }

    async fn due(&self, now: Timestamp, all: bool) -> Result<Vec<(ArticleId, u64)>, StoreError> {
        Ok(self.counts_now().live.due(now, all))
    }

    async fn note_written(&self, answers: &[WrittenBack], taken_at: Timestamp) -> Result<(), StoreError> {
        self.counts_now().live.note_written(answers, taken_at);
        Ok(())
    }

    async fn forget(&self, article: ArticleId) -> Result<(), StoreError> {
        self.counts_now().live.forget(article);
        Ok(())
    }

    fn unwritten(&self) -> usize {
        self.counts_now().live.unwritten()
    }
}
