//! Whether an article exists, asked of its owner in another process and remembered for a moment: a like or a view costs
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

/// How long an answer is believed, an absence too. The owner may have believed what it told for half a second.
pub const FACTS_KEPT_MS: i64 = 400;
/// The owner's share of the second within which a deleted article is gone: `madang_article::SHARED_FACTS_TTL_MS`.
const OWNER_KEPT_MS: i64 = 500;
/// Articles that are remembered, about 100 bytes each; the least used leave first.
const REMEMBERED_MAX: usize = 65_536;
/// Look-ups that may be under way; past it, whoever asks is told to come back.
const UNDER_WAY_MAX: usize = 4_096;

const _: () = assert!(FACTS_KEPT_MS + OWNER_KEPT_MS < 1_000);

/// The facts about articles of other processes.
pub(super) struct Facts(Arc<Known>);

struct Known {
    owners: Arc<Group>,
    clock: Arc<dyn Clock>,
    remembered: Cache<ArticleId, Remembered>,
    /// Held weakly: a look-up that everybody left ends, and the next who asks starts another.
    under_way: Mutex<HashMap<ArticleId, WeakShared<Lookup>>>,
}

#[derive(Debug, Clone, Copy)]
struct Remembered {
    facts: Option<ArticleFacts>,
    /// When the question was sent: what is older than the answer counts as its age.
    asked_at: Timestamp,
}

/// Whoever waits drives it, so it goes on while one of them is left.
type Lookup = BoxFuture<'static, Result<Option<ArticleFacts>, Arc<StoreError>>>;

impl Facts {
    pub(super) fn new(owners: Arc<Group>, clock: Arc<dyn Clock>) -> Self {
        let (remembered, under_way) = (Cache::new(REMEMBERED_MAX), Mutex::default());
        Self(Arc::new(Known { owners, clock, remembered, under_way }))
    }

    /// The facts about an article, from memory or by one look-up for all who ask meanwhile.
    pub(super) async fn of(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        if let Some(remembered) = self.0.remembered(article) {
            metrics::counter!(metric::FACTS_REMEMBERED).increment(1);
            return Ok(remembered.facts);
        }
        let lookup = self.join(article)?;
        lookup.await.map_err(|error| told(&error))
    }

    fn join(&self, article: ArticleId) -> Result<Shared<Lookup>, StoreError> {
        let mut under_way = self.0.under_way();
        if let Some(lookup) = under_way.get(&article).and_then(WeakShared::upgrade) {
            return Ok(lookup);
        }
        if under_way.len() >= UNDER_WAY_MAX {
            under_way.retain(|_, lookup| lookup.upgrade().is_some());
        }
        if under_way.len() >= UNDER_WAY_MAX {
            return Err(StoreError::unavailable(self.0.owners.role(), "too many look-ups are under way"));
        }
        let lookup = look_up(Arc::clone(&self.0), article).boxed().shared();
        if let Some(weak) = lookup.downgrade() {
            under_way.insert(article, weak);
        }
        Ok(lookup)
    }
}

/// Asks, remembers the answer, and makes room for the next look-up. A failure is remembered by nobody.
async fn look_up(known: Arc<Known>, article: ArticleId) -> Result<Option<ArticleFacts>, Arc<StoreError>> {
    let asked_at = known.clock.now();
    let answer = known.owners.ask(&FactsOf { article_id: article }).await;
    let facts = answer.map(|answer| answer.facts.map(ArticleFacts::from)).map_err(Arc::new);
    if let Ok(facts) = &facts {
        known.remembered.insert(article, Remembered { facts: *facts, asked_at });
    }
    known.under_way().remove(&article);
    facts
}

impl Known {
    fn remembered(&self, article: ArticleId) -> Option<Remembered> {
        let remembered = self.remembered.get(&article)?;
        let age_ms = self.clock.now().as_millis().saturating_sub(remembered.asked_at.as_millis());
        // A clock that stepped back must not make an answer last.
        (0..FACTS_KEPT_MS).contains(&age_ms).then_some(remembered)
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<ArticleId, WeakShared<Lookup>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same failure for one of many who waited.
fn told(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { what, reason, retry_after } => {
            StoreError::Unavailable { what, reason: reason.clone(), retry_after: *retry_after }
        }
        StoreError::Broken { what, source } => StoreError::broken(what, source.to_string()),
    }
}
