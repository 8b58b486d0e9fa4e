//! What the owner of articles in another process answered, cached for a moment: whether an article exists, and what is pinned
//! on a board. A like or a view costs no call while somebody asked just now, and a deleted article is gone within a second
//! all the same.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, FutureExt, Shared, WeakShared};
use madang_board::{ArticleFacts, ArticleId, BoardId, Pin};
use madang_kernel::{Clock, StoreError, Timestamp};
use quick_cache::sync::Cache;

use super::group::Group;
use crate::metric;
use crate::wire::{FactsOf, PinsOf};

/// How long an answer is fresh, an absence too. The owner may have cached what it told for half a second.
pub const FACTS_TTL_MS: i64 = 400;
/// The owner's share of the second within which a deleted article is gone: `madang_article::SHARED_FACTS_TTL_MS`.
const OWNER_TTL_MS: i64 = 500;
/// Answers that are cached, about 100 bytes each; the least used leave first.
const CACHED_MAX: usize = 65_536;
/// Loads that may be in flight; past it, whoever asks is told to come back.
const IN_FLIGHT_MAX: usize = 4_096;

const _: () = assert!(FACTS_TTL_MS + OWNER_TTL_MS < 1_000);

/// Something to ask the owner of articles about, and what it answers.
pub(super) trait Asked: Hash + Eq + Copy + Send + Sync + 'static {
    /// The answer.
    type Answer: Clone + Send + Sync + 'static;
    /// Asks.
    fn ask(self, owners: &Group) -> impl Future<Output = Result<Self::Answer, StoreError>> + Send;
}

impl Asked for ArticleId {
    type Answer = Option<ArticleFacts>;

    async fn ask(self, owners: &Group) -> Result<Self::Answer, StoreError> {
        Ok(owners.ask(&FactsOf { article_id: self }).await?.facts)
    }
}

impl Asked for BoardId {
    type Answer = Arc<[Pin]>;

    async fn ask(self, owners: &Group) -> Result<Self::Answer, StoreError> {
        Ok(owners.ask(&PinsOf { board_id: self }).await?.pins.into())
    }
}

/// The answers of other processes.
pub(super) struct FactsCache<K: Asked>(Arc<Inner<K>>);

struct Inner<K: Asked> {
    owners: Arc<Group>,
    clock: Arc<dyn Clock>,
    cached: Cache<K, CachedAnswer<K::Answer>>,
    /// Held weakly: a load that everybody left ends, and the next who asks starts another.
    in_flight: Mutex<HashMap<K, WeakShared<Load<K::Answer>>>>,
}

#[derive(Debug, Clone)]
struct CachedAnswer<V> {
    answer: V,
    /// When the question was sent: what is older than the answer counts as its age.
    asked_at: Timestamp,
}

/// Whoever waits drives it, so it goes on while one of them is left.
type Load<V> = BoxFuture<'static, Result<V, Arc<StoreError>>>;

impl<K: Asked> FactsCache<K> {
    pub(super) fn new(owners: Arc<Group>, clock: Arc<dyn Clock>) -> Self {
        let (cached, in_flight) = (Cache::new(CACHED_MAX), Mutex::default());
        Self(Arc::new(Inner { owners, clock, cached, in_flight }))
    }

    /// The answer, from memory or by one load for all who ask meanwhile.
    pub(super) async fn of(&self, about: K) -> Result<K::Answer, StoreError> {
        if let Some(fresh) = self.0.fresh(about) {
            metrics::counter!(metric::FACTS_REMEMBERED).increment(1);
            return Ok(fresh);
        }
        let load = self.join(about)?;
        load.await.map_err(|error| copy_of(&error))
    }

    fn join(&self, about: K) -> Result<Shared<Load<K::Answer>>, StoreError> {
        let mut in_flight = self.0.in_flight();
        if let Some(load) = in_flight.get(&about).and_then(WeakShared::upgrade) {
            return Ok(load);
        }
        if in_flight.len() >= IN_FLIGHT_MAX {
            in_flight.retain(|_, load| load.upgrade().is_some());
        }
        if in_flight.len() >= IN_FLIGHT_MAX {
            return Err(StoreError::unavailable(self.0.owners.role(), "too many look-ups are in flight"));
        }
        let load = load(Arc::clone(&self.0), about).boxed().shared();
        if let Some(weak) = load.downgrade() {
            in_flight.insert(about, weak);
        }
        Ok(load)
    }
}

/// Asks, caches the answer, and makes room for the next load. A failure is not cached.
async fn load<K: Asked>(cache: Arc<Inner<K>>, about: K) -> Result<K::Answer, Arc<StoreError>> {
    let asked_at = cache.clock.now();
    let answer = about.ask(&cache.owners).await.map_err(Arc::new);
    if let Ok(answer) = &answer {
        cache.cached.insert(about, CachedAnswer { answer: answer.clone(), asked_at });
    }
    cache.in_flight().remove(&about);
    answer
}

impl<K: Asked> Inner<K> {
    fn fresh(&self, about: K) -> Option<K::Answer> {
        let cached = self.cached.get(&about)?;
        let age_ms = self.clock.now().as_millis().saturating_sub(cached.asked_at.as_millis());
        // A clock that stepped back must not make an answer last.
        (0..FACTS_TTL_MS).contains(&age_ms).then_some(cached.answer)
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<K, WeakShared<Load<K::Answer>>>> {
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
