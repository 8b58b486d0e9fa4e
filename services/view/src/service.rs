//! Use cases of views: count one, tell counts, write them back in time, drop those of a deleted article.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::tz::TimeZone;
use madang_board::{ArticleId, ArticleLookup};
use madang_kernel::{Clock, Id, IdGenerator, ShardId, StoreError, Timestamp};
use tokio::sync::{Mutex as AsyncMutex, Notify};

use crate::{
    GuestKey, LiveView, LiveViews, MemoryLiveViews, SiteDay, StoredViews, ViewConfig, ViewCount, ViewStore, Viewer,
    WriteBack,
};

/// Counts written back, or looked up, in one call to the store: a slice of background work stays short.
const SLICE_MAX: usize = 256;
/// Locks for loading; an article always takes the same one.
const LOADING_LOCKS: usize = 256;
/// How often an article may be pushed out between loading and counting before the caller is told to come back.
const LOAD_ATTEMPTS: usize = 3;

/// What became of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewed {
    /// False when this viewer was counted within the last ten minutes, or when nothing can be counted at the moment.
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

/// Views of articles. One per process.
pub struct ViewService {
    store: Arc<dyn ViewStore>,
    articles: Arc<dyn ArticleLookup>,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
    live: Arc<dyn LiveViews>,
    day: Mutex<SiteDay>,
    /// One load of an article at a time: a crowd on a cold article asks the store once.
    loading: Vec<AsyncMutex<()>>,
    /// One write-back at a time, so that none overtakes another.
    flushing: AsyncMutex<()>,
    due: Notify,
}

impl ViewService {
    /// A service over a store, with live counts in the memory of this process. `key` scatters the window; guests are made
    /// with it by the caller.
    pub fn new(
        store: Arc<dyn ViewStore>,
        articles: Arc<dyn ArticleLookup>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
        key: &GuestKey,
        config: ViewConfig,
    ) -> Self {
        let live = Arc::new(MemoryLiveViews::new(&config, key));
        Self::over(store, articles, ids, clock, live, config.time_zone)
    }

    /// A service over a store and live counts; at the end of the day of `time_zone` everything is written back.
    pub fn over(
        store: Arc<dyn ViewStore>,
        articles: Arc<dyn ArticleLookup>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
        live: Arc<dyn LiveViews>,
        time_zone: TimeZone,
    ) -> Self {
        Self {
            store,
            articles,
            ids,
            clock,
            live,
            day: Mutex::new(SiteDay::new(time_zone)),
            loading: (0..LOADING_LOCKS).map(|_| AsyncMutex::new(())).collect(),
            flushing: AsyncMutex::new(()),
            due: Notify::new(),
        }
    }

    /// Counts a view, unless this viewer was counted within the last ten minutes. Live counts that are away count nothing,
    /// and then what is stored is told.
    pub async fn view(&self, article: ArticleId, viewer: Viewer) -> Result<Viewed, ViewError> {
        self.require_article(article).await?;
        for _ in 0..LOAD_ATTEMPTS {
            let Some(live) = unless_away(self.live.view(article, viewer, self.clock.now()).await)? else {
                return self.uncounted(article).await;
            };
            match live {
                LiveView::Seen { count } => return Ok(Viewed { counted: false, view_count: count }),
                LiveView::Counted { count, is_due } => {
                    if is_due {
                        self.due.notify_one();
                    }
                    return Ok(Viewed { counted: true, view_count: count });
                }
                LiveView::NotLive => {}
            }
            if self.load(article).await?.is_none() {
                return self.uncounted(article).await;
            }
        }
        Err(crowded().into())
    }

    /// Views of one article so far.
    pub async fn count(&self, article: ArticleId) -> Result<u64, ViewError> {
        self.require_article(article).await?;
        if let Some(count) = self.live.at_hand(article) {
            return Ok(count);
        }
        if let Some(count) = unless_away(self.live.counts(&[article]).await)?.and_then(|counts| *counts.first()?) {
            return Ok(count);
        }
        let stored = self.stored(article).await?;
        // It may have become live meanwhile.
        Ok(self.live.at_hand(article).unwrap_or(0).max(stored))
    }

    /// Views of an article that is live in this process. Does not ask whether it exists.
    pub fn live_count(&self, article: ArticleId) -> Option<u64> {
        self.live.at_hand(article)
    }

    /// Views of many articles, in the order asked; `None` for those known to be deleted. Does not ask whether they exist.
    /// What is read becomes live, so that whoever asks again a moment later costs no query.
    pub async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let live = unless_away(self.live.counts(articles).await)?;
        let mut counts = live.unwrap_or_else(|| vec![None; articles.len()]);
        let unknown: Vec<_> = (0..articles.len()).filter(|place| counts[*place].is_none()).collect();
        for places in unknown.chunks(SLICE_MAX) {
            let stored = self.store.find_many(places.iter().map(|place| articles[*place]).collect()).await?;
            let counted = places.iter().zip(stored).filter_map(|(place, stored)| match stored {
                StoredViews::Count(stored) => Some((*place, (articles[*place], stored))),
                StoredViews::Gone => None,
            });
            let (places, stored): (Vec<_>, Vec<_>) = counted.unzip();
            // Where every place is taken by what waits to be written, it is not remembered.
            let live = unless_away(self.live.insert(&stored, self.clock.now()).await)?.unwrap_or_default();
            for (at, (place, (_, stored))) in places.into_iter().zip(stored).enumerate() {
                counts[place] = Some(live.get(at).copied().flatten().unwrap_or(0).max(stored));
            }
        }
        Ok(counts)
    }

    /// The counters of articles as they are stored, in the order asked; `None` for those known to be deleted. What is live and
    /// unwritten is not in them: events have not told of it either.
    pub async fn stored_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<ViewCount>>, StoreError> {
        self.store.counts(articles.to_vec()).await
    }

    /// Takes over counts that somebody else has just read from the store, so that whoever asks next costs no query.
    pub async fn remember(&self, stored: &[(ArticleId, u64)]) -> Result<(), StoreError> {
        // Where every place is taken by what waits to be written, it is not remembered.
        unless_away(self.live.insert(stored, self.clock.now()).await).map(drop)
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

    /// Articles whose unwritten views would be lost with this process.
    pub fn unwritten(&self) -> usize {
        self.live.unwritten()
    }

    /// An article was deleted: its views are gone, for good.
    pub async fn article_deleted(&self, article: ArticleId) -> Result<(), StoreError> {
        self.store.mark_article_gone(article).await?;
        self.live.forget(article).await
    }

    /// Some articles with a stored count above `after`.
    pub(crate) async fn counted_after(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.store.counted_after(after, SLICE_MAX).await
    }

    /// Some articles above `after` that are marked as deleted.
    pub(crate) async fn gone_after(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.store.gone_after(after, SLICE_MAX).await
    }

    /// An article was never deleted: what is stored of its views counts again.
    pub(crate) async fn restore(&self, article: ArticleId) -> Result<(), StoreError> {
        self.store.restore_article(article).await
    }

    /// Who knows whether an article exists.
    pub(crate) fn article_lookup(&self) -> Arc<dyn ArticleLookup> {
        Arc::clone(&self.articles)
    }

    async fn require_article(&self, article: ArticleId) -> Result<(), ViewError> {
        self.articles.facts(article).await?.map(drop).ok_or(ViewError::NotFound)
    }

    async fn stored(&self, article: ArticleId) -> Result<u64, ViewError> {
        match self.store.find(article).await? {
            StoredViews::Count(stored) => Ok(stored),
            StoredViews::Gone => Err(ViewError::NotFound),
        }
    }

    /// The answer to a view that cannot be counted.
    async fn uncounted(&self, article: ArticleId) -> Result<Viewed, ViewError> {
        Ok(Viewed { counted: false, view_count: self.stored(article).await? })
    }

    /// Makes an article live, reading what is stored if it is not; `None` when the live counts are away.
    async fn load(&self, article: ArticleId) -> Result<Option<()>, ViewError> {
        let lock = usize::try_from(article.raw().cast_unsigned() % LOADING_LOCKS as u64).unwrap_or(0);
        let _alone = self.loading[lock].lock().await;
        match unless_away(self.live.counts(&[article]).await)?.as_deref() {
            None => return Ok(None),
            Some([Some(_)]) => return Ok(Some(())),
            Some(_) => {}
        }
        let stored = [(article, self.stored(article).await?)];
        let now = self.clock.now();
        for has_made_room in [false, true] {
            match unless_away(self.live.insert(&stored, now).await)?.as_deref() {
                None => return Ok(None),
                Some([Some(_)]) => return Ok(Some(())),
                // Everything waits to be written, so it is written now, and what is clean then gives way.
                Some(_) if !has_made_room => drop(self.flush_all().await?),
                Some(_) => {}
            }
        }
        Err(crowded().into())
    }

    /// The caller holds `flushing`. A store that is away ends it; a defect of one count does not hold up the others.
    async fn write_back(&self, now: Timestamp, all: bool) -> Result<Flushed, StoreError> {
        let due = self.live.due(now, all).await?;
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
        self.live.note_written(&answers, taken_at).await?;
        Ok(answers.len())
    }

    fn back(&self, article_id: ArticleId, view_count: u64) -> Result<WriteBack, StoreError> {
        let event_id = self.ids.next(ShardId::of_parts(article_id))?;
        Ok(WriteBack { article_id, view_count, event_id })
    }
}

/// An answer of the live counts; `None` when they are away.
fn unless_away<T>(answer: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::Unavailable { .. }) => Ok(None),
        Err(broken @ StoreError::Broken { .. }) => Err(broken),
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
