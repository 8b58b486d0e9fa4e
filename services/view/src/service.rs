//! Use cases of views: count one, tell counts, write them back in time, drop those of a deleted article.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_kernel::{ArticleId, ArticleLookup, Clock, Id, IdGenerator, ShardId, StoreError, Timestamp};
use tokio::sync::{Mutex as AsyncMutex, Notify};

use crate::{GuestKey, LiveCounts, SiteDay, StoredViews, ViewConfig, ViewStore, Viewer, Window, WriteBack};

/// Counts written back, or looked up, in one call to the store: a slice of background work stays short.
const SLICE_MAX: usize = 256;
/// Locks for loading; an article always takes the same one.
const LOADING_LOCKS: usize = 256;
/// How often an article may be pushed out between loading and counting before the caller is told to come back.
const LOAD_ATTEMPTS: usize = 3;

/// What became of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewed {
    /// False when this viewer was counted within the last ten minutes.
    pub counted: bool,
    /// Views of the article so far.
    pub view_count: u64,
}

/// What a write-back did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flushed {
    /// Articles whose counts the store took.
    pub articles: usize,
}

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no such article.
    #[error("there is no such article")]
    NotFound,
    /// The store, or the owner of articles, could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Views of articles. One per process: live counts are its memory.
pub struct ViewService {
    store: Arc<dyn ViewStore>,
    articles: Arc<dyn ArticleLookup>,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
    window: Window,
    live: Mutex<LiveCounts>,
    day: Mutex<SiteDay>,
    /// One load of an article at a time: a crowd on a cold article asks the store once.
    loading: Vec<AsyncMutex<()>>,
    /// One write-back at a time, so that none overtakes another.
    flushing: AsyncMutex<()>,
    due: Notify,
}

impl ViewService {
    /// A service over a store. `key` scatters the window; guests are made with it by the caller.
    pub fn new(
        store: Arc<dyn ViewStore>,
        articles: Arc<dyn ArticleLookup>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
        key: &GuestKey,
        config: ViewConfig,
    ) -> Self {
        Self {
            store,
            articles,
            ids,
            clock,
            window: Window::new(config.window_entries, key.window_seed()),
            live: Mutex::new(LiveCounts::new(config.live)),
            day: Mutex::new(SiteDay::new(config.time_zone)),
            loading: (0..LOADING_LOCKS).map(|_| AsyncMutex::new(())).collect(),
            flushing: AsyncMutex::new(()),
            due: Notify::new(),
        }
    }

    /// Counts a view, unless this viewer was counted within the last ten minutes.
    pub async fn view(&self, article: ArticleId, viewer: Viewer) -> Result<Viewed, ViewError> {
        self.require_article(article).await?;
        for _ in 0..LOAD_ATTEMPTS {
            self.load(article).await?;
            if let Some(viewed) = self.count_view(article, viewer) {
                return Ok(viewed);
            }
        }
        Err(crowded().into())
    }

    /// Views of one article so far.
    pub async fn count(&self, article: ArticleId) -> Result<u64, ViewError> {
        self.require_article(article).await?;
        if let Some(count) = self.live().count(article) {
            return Ok(count);
        }
        match self.store.find(article).await? {
            // It may have become live meanwhile.
            StoredViews::Count(stored) => Ok(self.live().count(article).unwrap_or(0).max(stored)),
            StoredViews::Gone => Err(ViewError::NotFound),
        }
    }

    /// Views of an article that is live. Does not ask whether it exists.
    pub fn live_count(&self, article: ArticleId) -> Option<u64> {
        self.live().count(article)
    }

    /// Views of many articles, in the order asked; `None` for those known to be deleted. Does not ask whether they exist.
    /// What is read becomes live, so that whoever asks again a moment later costs no query.
    pub async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let mut counts: Vec<_> = {
            let live = self.live();
            articles.iter().map(|article| live.count(*article)).collect()
        };
        let unknown: Vec<_> = (0..articles.len()).filter(|place| counts[*place].is_none()).collect();
        for places in unknown.chunks(SLICE_MAX) {
            let stored = self.store.find_many(places.iter().map(|place| articles[*place]).collect()).await?;
            let now = self.clock.now();
            let mut live = self.live();
            for (place, stored) in places.iter().zip(stored) {
                let StoredViews::Count(stored) = stored else { continue };
                // Where every place is taken by what waits to be written, it is not remembered.
                let _ = live.insert(articles[*place], stored, now);
                counts[*place] = Some(live.count(articles[*place]).unwrap_or(0).max(stored));
            }
        }
        Ok(counts)
    }

    /// Takes over counts that somebody else has just read from the store, so that whoever asks next costs no query.
    pub fn remember(&self, stored: impl IntoIterator<Item = (ArticleId, u64)>) {
        let now = self.clock.now();
        let mut live = self.live();
        for (article, stored) in stored {
            // Where every place is taken by what waits to be written, it is not remembered.
            let _ = live.insert(article, stored, now);
        }
    }

    /// Returns when an article has gathered enough views to be written back at once. The loop that drives
    /// [`ViewService::flush_due`] waits for this, for [`FLUSH_STEP_MS`](crate::FLUSH_STEP_MS) or for its stop signal,
    /// whichever comes first.
    pub async fn wait_until_due(&self) {
        self.due.notified().await;
    }

    /// One step of that loop: writes back what is due at this moment, at the end of the site's day everything. What could
    /// not be written stays as it is, and the next step tries again.
    pub async fn flush_due(&self) -> Result<Flushed, StoreError> {
        let flushing = self.flushing.lock().await;
        let now = self.clock.now();
        let all = lock(&self.day).is_ending(now);
        let flushed = self.write_back(now, all).await;
        drop(flushing);
        flushed
    }

    /// Writes back everything: at shutdown, after the last view.
    pub async fn flush_all(&self) -> Result<Flushed, StoreError> {
        let flushing = self.flushing.lock().await;
        let flushed = self.write_back(self.clock.now(), true).await;
        drop(flushing);
        flushed
    }

    /// How many live articles have views that are not written yet.
    pub fn unwritten(&self) -> usize {
        self.live().unwritten()
    }

    /// An article was deleted: its views are gone, for good.
    pub async fn article_deleted(&self, article: ArticleId) -> Result<(), StoreError> {
        self.store.mark_article_gone(article).await?;
        self.live().forget(article);
        Ok(())
    }

    /// Events of deletions were missed: asks after every article with a stored count.
    pub async fn find_missed_deletions(&self) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let slice = self.store.counted_after(after, SLICE_MAX).await?;
            let Some(last) = slice.last() else { return Ok(()) };
            after = Some(*last);
            for article in slice {
                if self.articles.facts(article).await?.is_none() {
                    self.article_deleted(article).await?;
                }
            }
        }
    }

    async fn require_article(&self, article: ArticleId) -> Result<(), ViewError> {
        self.articles.facts(article).await?.map(drop).ok_or(ViewError::NotFound)
    }

    /// Makes an article live, reading what is stored if it is not.
    async fn load(&self, article: ArticleId) -> Result<(), ViewError> {
        if self.live().count(article).is_some() {
            return Ok(());
        }
        let _alone = self.loading[article.raw() as u64 as usize % LOADING_LOCKS].lock().await;
        if self.live().count(article).is_some() {
            return Ok(());
        }
        let StoredViews::Count(stored) = self.store.find(article).await? else {
            return Err(ViewError::NotFound);
        };
        let now = self.clock.now();
        if self.live().insert(article, stored, now).is_ok() {
            return Ok(());
        }
        // Everything waits to be written, so it is written now, and what is clean then gives way.
        self.flush_all().await?;
        self.live().insert(article, stored, now).map_err(|_| crowded().into())
    }

    /// `None` when the article is no longer live. The window is asked last: it must remember only what is counted.
    fn count_view(&self, article: ArticleId, viewer: Viewer) -> Option<Viewed> {
        let now = self.clock.now();
        let mut live = self.live();
        let view_count = live.count(article)?;
        if !self.window.admit(viewer, article, now) {
            return Some(Viewed { counted: false, view_count });
        }
        let added = live.add(article, now)?;
        drop(live);
        if added.is_due {
            self.due.notify_one();
        }
        Some(Viewed { counted: true, view_count: added.count })
    }

    /// The caller holds `flushing`. A store that is away ends it; a defect of one count does not hold up the others.
    async fn write_back(&self, now: Timestamp, all: bool) -> Result<Flushed, StoreError> {
        let due = self.live().due(now, all);
        let mut flushed = Flushed::default();
        let mut defect = None;
        for slice in due.chunks(SLICE_MAX) {
            match self.write_slice(slice, now).await {
                Ok(written) => flushed.articles += written,
                Err(away @ StoreError::Unavailable { .. }) => return Err(away),
                Err(StoreError::Broken { .. }) => {
                    for one in slice.chunks(1) {
                        match self.write_slice(one, now).await {
                            Ok(written) => flushed.articles += written,
                            Err(away @ StoreError::Unavailable { .. }) => return Err(away),
                            Err(broken) => defect = Some(broken),
                        }
                    }
                }
            }
        }
        defect.map_or(Ok(flushed), Err)
    }

    async fn write_slice(&self, slice: &[(ArticleId, u64)], taken_at: Timestamp) -> Result<usize, StoreError> {
        let backs = slice.iter().map(|(article, count)| self.back(*article, *count));
        let answers = self.store.write_back(backs.collect::<Result<_, _>>()?).await?;
        self.live().note_written(&answers, taken_at);
        Ok(answers.len())
    }

    fn back(&self, article_id: ArticleId, view_count: u64) -> Result<WriteBack, StoreError> {
        let event_id = self.ids.next(ShardId::of_article_parts(article_id))?;
        Ok(WriteBack { article_id, view_count, event_id })
    }

    fn live(&self) -> MutexGuard<'_, LiveCounts> {
        lock(&self.live)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn crowded() -> StoreError {
    StoreError::unavailable("live view counts", "too many articles are viewed at once")
}

#[cfg(test)]
mod tests;
