//! View counts for readers: a short cache in front of their owner. Fresh ones are answered at once; older ones too, while
//! one refresh runs; past that, readers wait for one load together. An owner in the same process that has a count in memory
//! is simply asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::{Clock, Id, ShardId, StoreError, Timestamp};
use quick_cache::unsync::Cache;

use crate::ViewOwner;
use crate::loader::{LoadLoop, Loader, Source, loader};
use crate::meters::{Kind, Meter, Meters};

/// How long a count is answered without asking the owner (its logical expiry).
pub const VIEW_FRESH_MS: i64 = 1_000;
/// How long a count is answered while a refresh runs (its physical expiry).
pub const VIEW_TTL_MS: i64 = 6_000;
/// Counts that are cache, at about 100 bytes each; the least used leave first.
pub const VIEW_COUNTS_MAX: usize = 131_072;
/// Parts of the cache with a lock each.
const PARTS: usize = 64;

const _: () = assert!(VIEW_FRESH_MS < VIEW_TTL_MS && PARTS.is_power_of_two());

/// What readers ask.
pub(crate) struct ViewCounts {
    cache: Arc<ViewCache>,
    owner: Arc<dyn ViewOwner>,
    loader: Loader<ArticleId, Option<u64>>,
    meters: Meters,
}

struct ViewCache {
    parts: Vec<Mutex<Cache<ArticleId, Counted>>>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    /// `None` when the owner says that the article is gone.
    count: Option<u64>,
    at: Timestamp,
}

/// How far a kept count may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    Fresh,
    Stale,
    Expired,
}

impl ViewCounts {
    /// The cache, and the loop that fills it.
    pub(crate) fn new(owner: Arc<dyn ViewOwner>, clock: Arc<dyn Clock>) -> (Self, LoadLoop<ArticleId, Option<u64>>) {
        let parts = (0..PARTS).map(|_| Mutex::new(Cache::new(VIEW_COUNTS_MAX / PARTS))).collect();
        let cache = Arc::new(ViewCache { parts, clock });
        let source =
            ViewSource { owner: Arc::clone(&owner), cache: Arc::clone(&cache), meters: Meters::of(Kind::Views) };
        let (loader, loads) = loader("view counts", Arc::new(source));
        (Self { cache, owner, loader, meters: Meters::of(Kind::Views) }, loads)
    }

    /// The counts of articles, in the order asked; `None` for one whose views are gone with it. When the owner does not
    /// answer, the last known count is: views only grow, so it is still true of the article, while no count would be
    /// made up. An article whose count nobody knows fails.
    pub(crate) async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let now = self.cache.clock.now();
        let mut counts = Vec::with_capacity(articles.len());
        let (mut old, mut missing) = (Vec::new(), Vec::new());
        for (place, article) in articles.iter().enumerate() {
            if let Some(count) = self.owner.views_in_memory(*article) {
                counts.push(Some(count));
                continue;
            }
            let counted = self.cache.find(*article);
            match counted.map_or(Age::Expired, |counted| counted.age(now)) {
                Age::Fresh => {}
                Age::Stale => old.push(*article),
                Age::Expired => missing.push((place, *article, counted)),
            }
            counts.push(counted.and_then(|counted| counted.count));
        }
        self.meters.add(Meter::Hits, articles.len() - missing.len());
        if !old.is_empty() {
            self.loader.refresh(&old);
        }
        if !missing.is_empty() {
            self.meters.add(Meter::Misses, missing.len());
            let keys: Vec<_> = missing.iter().map(|(_, article, _)| *article).collect();
            match self.loader.load(&keys).await {
                Ok(loaded) => missing.iter().zip(loaded).for_each(|((place, ..), count)| counts[*place] = count),
                // What is known of them stands in `counts` already.
                Err(_) if missing.iter().all(|(.., known)| known.is_some()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(counts)
    }

    /// An article was created just now: nobody has seen it, so its first reader need not ask.
    pub(crate) fn note_new(&self, article: ArticleId) {
        self.cache.keep(article, Some(0), self.cache.clock.now());
    }
}

impl ViewCache {
    fn find(&self, article: ArticleId) -> Option<Counted> {
        self.part(article).get(&article).copied()
    }

    /// Keeps what the owner answered. Views never fall, so the greater count stays.
    fn keep(&self, article: ArticleId, told: Option<u64>, at: Timestamp) -> Option<u64> {
        let mut part = self.part(article);
        let known = part.peek(&article).and_then(|counted| counted.count);
        let count = told.map(|told| told.max(known.unwrap_or(0)));
        part.insert(article, Counted { count, at });
        count
    }

    fn part(&self, article: ArticleId) -> MutexGuard<'_, Cache<ArticleId, Counted>> {
        // The upper bits of a multiplication depend on all bits of the id.
        let spread = article.raw().cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PARTS.trailing_zeros());
        self.parts[usize::try_from(spread).unwrap_or(0)].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn age(self, now: Timestamp) -> Age {
        match now.as_millis().saturating_sub(self.at.as_millis()) {
            0..VIEW_FRESH_MS => Age::Fresh,
            // A clock that stepped back must not make a count last.
            i64::MIN..0 | VIEW_FRESH_MS..VIEW_TTL_MS => Age::Stale,
            VIEW_TTL_MS.. => Age::Expired,
        }
    }
}

struct ViewSource {
    owner: Arc<dyn ViewOwner>,
    cache: Arc<ViewCache>,
    meters: Meters,
}

#[async_trait]
impl Source<ArticleId, Option<u64>> for ViewSource {
    async fn load(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let now = self.cache.clock.now();
        let known: Vec<_> = articles.iter().map(|article| self.cache.find(*article)).collect();
        let aged = |age| move |counted: &Option<Counted>| counted.is_some_and(|counted| counted.age(now) == age);
        // What another load brought while the key was on its way needs none.
        let left = articles.iter().zip(&known).filter(|(_, counted)| !aged(Age::Fresh)(counted));
        let left: Vec<_> = left.map(|(article, _)| *article).collect();
        let refreshes = known.iter().filter(|counted| aged(Age::Stale)(counted)).count();
        self.meters.add(Meter::Refreshes, refreshes);
        self.meters.add(Meter::Rebuilds, left.len() - refreshes);
        let told = if left.is_empty() { Vec::new() } else { self.owner.view_counts(&left).await? };
        if told.len() != left.len() {
            return Err(StoreError::broken("views", "their owner answered for more or fewer articles than asked"));
        }
        let mut told = left.iter().zip(told).map(|(article, told)| self.cache.keep(*article, told, now));
        let counts = known.into_iter().map(|counted| match aged(Age::Fresh)(&counted) {
            true => counted.and_then(|counted| counted.count),
            false => told.next().flatten(),
        });
        Ok(counts.collect())
    }

    fn failure_domain(&self, article: &ArticleId) -> u32 {
        ShardId::of_parts(*article).number().into()
    }
}

#[cfg(test)]
mod tests;
