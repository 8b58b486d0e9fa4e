//! Whether an article exists, asked of its owner in another process and cached for a moment: a like or a view costs
//! no call while somebody asked just now, and a deleted article is gone within a second all the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, FutureExt, Shared, WeakShared};
use madang_board::{ArticleFacts, ArticleId};
use madang_kernel::{Clock, StoreError, Timestamp};
use quick_cache::sync::Cache;

use super::group::Group;
use crate::metric;
use crate::wire::FactsOf;

/// How long an answer is fresh, an absence too. The owner may have cached what it told for half a second.
pub const FACTS_TTL_MS: i64 = 400;
/// The owner's share of the second within which a deleted article is gone: `madang_article::SHARED_FACTS_TTL_MS`.
const OWNER_TTL_MS: i64 = 500;
/// Articles that are cached, about 100 bytes each; the least used leave first.
const CACHED_MAX: usize = 65_536;
/// Loads that may be in flight; past it, whoever asks is told to come back.
const IN_FLIGHT_MAX: usize = 4_096;

const _: () = assert!(FACTS_TTL_MS + OWNER_TTL_MS < 1_000);

/// The facts about articles of other processes.
pub(super) struct FactsCache(Arc<Inner>);

struct Inner {
    owners: Arc<Group>,
    clock: Arc<dyn Clock>,
    cached: Cache<ArticleId, CachedFacts>,
    /// Held weakly: a load that everybody left ends, and the next who asks starts another.
    in_flight: Mutex<HashMap<ArticleId, WeakShared<Load>>>,
}

#[derive(Debug, Clone, Copy)]
struct CachedFacts {
    facts: Option<ArticleFacts>,
    /// When the question was sent: what is older than the answer counts as its age.
    asked_at: Timestamp,
}

/// Whoever waits drives it, so it goes on while one of them is left.
type Load = BoxFuture<'static, Result<Option<ArticleFacts>, Arc<StoreError>>>;

impl FactsCache {
    pub(super) fn new(owners: Arc<Group>, clock: Arc<dyn Clock>) -> Self {
        let (cached, in_flight) = (Cache::new(CACHED_MAX), Mutex::default());
        Self(Arc::new(Inner { owners, clock, cached, in_flight }))
    }

    /// The facts about an article, from memory or by one load for all who ask meanwhile.
    pub(super) async fn of(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        if let Some(fresh) = self.0.fresh(article) {
            metrics::counter!(metric::FACTS_REMEMBERED).increment(1);
            return Ok(fresh.facts);
        }
        let load = self.join(article)?;
        load.await.map_err(|error| copy_of(&error))
    }

    fn join(&self, article: ArticleId) -> Result<Shared<Load>, StoreError> {
        let mut in_flight = self.0.in_flight();
        if let Some(load) = in_flight.get(&article).and_then(WeakShared::upgrade) {
            return Ok(load);
        }
        if in_flight.len() >= IN_FLIGHT_MAX {
            in_flight.retain(|_, load| load.upgrade().is_some());
        }
        if in_flight.len() >= IN_FLIGHT_MAX {
            return Err(StoreError::unavailable(self.0.owners.role(), "too many look-ups are in flight"));
        }
        let load = load(Arc::clone(&self.0), article).boxed().shared();
        if let Some(weak) = load.downgrade() {
            in_flight.insert(article, weak);
        }
        Ok(load)
    }
}

/// Asks, caches the answer, and makes room for the next load. A failure is not cached.
async fn load(cache: Arc<Inner>, article: ArticleId) -> Result<Option<ArticleFacts>, Arc<StoreError>> {
    let asked_at = cache.clock.now();
    let answer = cache.owners.ask(&FactsOf { article_id: article }).await;
    let facts = answer.map(|answer| answer.facts).map_err(Arc::new);
    if let Ok(facts) = &facts {
        cache.cached.insert(article, CachedFacts { facts: *facts, asked_at });
    }
    cache.in_flight().remove(&article);
    facts
}

impl Inner {
    fn fresh(&self, article: ArticleId) -> Option<CachedFacts> {
        let cached = self.cached.get(&article)?;
        let age_ms = self.clock.now().as_millis().saturating_sub(cached.asked_at.as_millis());
        // A clock that stepped back must not make an answer last.
        (0..FACTS_TTL_MS).contains(&age_ms).then_some(cached)
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<ArticleId, WeakShared<Load>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same failure for one of many who waited.
fn copy_of(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { what, reason, retry_after } => {
            StoreError::Unavailable { what, reason: reason.clone(), retry_after: *retry_after }
        }
        StoreError::Broken { what, source } => StoreError::broken(what, source.to_string()),
    }
}
