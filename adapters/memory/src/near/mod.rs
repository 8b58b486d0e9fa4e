//! A near cache: what this process has lately read of a query model that it shares with others, in its memory.
//!
//! Every process tells the others what it commits, as versions and counts. What is cached is corrected by that, and a load
//! that comes late is joined with what was heard meanwhile, so it never overwrites something newer. Who hears nothing, because
//! a message or the connection was lost, is right again when the short TTL is over.

mod articles;
mod cache;
mod lists;
mod loads;
mod meters;
mod recent;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use madang_article_read::{
    Change, Entry, Filled, FilledList, Invalidation, LIST_MAX, Lease, ListLookup, LoadLoop, Loader, Lookup, ModelSize,
    NewestArticles, RankingTtl, ReadModel, Reservation, WholeList, Window, loader,
};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Clock, ShardId, StoreError, Timestamp};
use madang_messaging::Stop;

use self::cache::NearCache;
use self::lists::NearList;
use self::loads::{ArticleLoads, ListLoads};
use self::meters::NearMeters;

/// How long what was loaded is answered without another look.
pub const NEAR_FRESH_MS: i64 = 350;
/// How long it is answered while one look runs; a change that nobody told of is seen when this is over.
pub const NEAR_TTL_MS: i64 = 700;
/// How long answers that were rendered from it are handed out.
const RENDERED_TTL: Duration = Duration::from_millis(100);
/// The longest that any front hands out what it rendered; see the cache of pages.
const RENDERED_TTL_MAX_MS: i64 = 250;
/// How late a process may show a change that it did not hear of.
const STALENESS_MAX_MS: i64 = 1_000;
/// Rebuilds under way past which those that never ended are looked for.
const RESERVED_SWEEP: usize = 256;
/// A rebuild older than this has ended without a word.
const RESERVED_TTL_MS: i64 = 60_000;

const _: () = assert!(NEAR_FRESH_MS < NEAR_TTL_MS && NEAR_TTL_MS + RENDERED_TTL_MAX_MS <= STALENESS_MAX_MS);

const CONNECTED: Ttl = Ttl { fresh_ms: NEAR_FRESH_MS, ttl_ms: NEAR_TTL_MS };
/// While no change of others is heard of: what is asked for often is still loaded only a few times a second.
const DISCONNECTED: Ttl = Ttl { fresh_ms: 75, ttl_ms: 150 };

/// How long something is believed.
#[derive(Debug, Clone, Copy)]
struct Ttl {
    fresh_ms: i64,
    ttl_ms: i64,
}

/// How far something cached may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    Fresh,
    Stale,
    Expired,
}

impl Ttl {
    fn age(self, at: Timestamp, now: Timestamp) -> Age {
        match now.as_millis().saturating_sub(at.as_millis()) {
            // A clock that stepped back makes nothing last.
            ..0 => Age::Expired,
            age if age < self.fresh_ms => Age::Fresh,
            age if age < self.ttl_ms => Age::Stale,
            _ => Age::Expired,
        }
    }
}

/// The moment before a load asked.
#[derive(Debug, Clone, Copy)]
struct Begun {
    /// The last change heard of.
    number: u64,
    at: Timestamp,
}

/// Who answered a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// The model behind, which may not have been told of a change yet.
    Model,
    /// The owners, who know of all that was committed before they were asked.
    Owners,
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This process.
    Own,
    /// Another one.
    Other,
}

/// Tells the other processes what they cannot hear of otherwise.
#[async_trait]
pub trait Announce: Send + Sync {
    /// The model was cleared: what they cache of it must go too.
    async fn cleared(&self);
}

/// A query model behind a near cache.
pub struct NearReadModel {
    far: Arc<dyn ReadModel>,
    cache: Arc<NearCache>,
    articles: Loader<ArticleId, Lookup>,
    article_loads: LoadLoop<ArticleId, Lookup>,
    lists: Loader<BoardId, NearList>,
    list_loads: LoadLoop<BoardId, NearList>,
    /// When the rebuilds under way began.
    reserved: Mutex<HashMap<Reservation, Begun>>,
    others: Arc<dyn Announce>,
    meters: NearMeters,
}

impl NearReadModel {
    /// A near cache of `budget_bytes` in front of `far`, which it shares with `others`.
    pub fn new(far: Arc<dyn ReadModel>, budget_bytes: u64, clock: Arc<dyn Clock>, others: Arc<dyn Announce>) -> Self {
        let cache = Arc::new(NearCache::new(budget_bytes, clock));
        let article_source = ArticleLoads { cache: Arc::clone(&cache), far: Arc::clone(&far) };
        let list_source = ListLoads { cache: Arc::clone(&cache), far: Arc::clone(&far) };
        let (articles, article_loads) = loader("near articles", Arc::new(article_source));
        let (lists, list_loads) = loader("near lists", Arc::new(list_source));
        let (reserved, meters) = (Mutex::default(), NearMeters::default());
        Self { far, cache, articles, article_loads, lists, list_loads, reserved, others, meters }
    }

    /// Corrects what is cached by what was committed, here or elsewhere. Own commits come before anybody is answered.
    pub fn invalidate(&self, heard: &[Invalidation], origin: Origin) {
        self.meters.invalidated(heard.len());
        self.cache.invalidate(heard, origin);
    }

    /// From now on the changes of others are heard of; what is cached may have missed some.
    pub fn connected(&self) {
        self.cache.connected();
    }

    /// From now on they are not.
    pub fn disconnected(&self) {
        self.cache.disconnected();
    }

    /// Forgets what is cached: the model behind is another one, or was cleared by another process.
    pub fn forget(&self) {
        self.cache.clear();
        self.meters.cleared();
    }

    /// How much is cached.
    pub fn near_size(&self) -> ModelSize {
        self.cache.size()
    }

    fn reserved(&self) -> MutexGuard<'_, HashMap<Reservation, Begun>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A rebuild begins: the owners are asked after this.
    fn begin(&self, reservation: Reservation) -> Reservation {
        let begun = self.cache.begin();
        let mut reserved = self.reserved();
        if reserved.len() >= RESERVED_SWEEP {
            let age_ms = |other: &Begun| begun.at.as_millis().saturating_sub(other.at.as_millis());
            reserved.retain(|_, other| age_ms(other) < RESERVED_TTL_MS);
        }
        reserved.insert(reservation, begun);
        reservation
    }

    /// Takes over what a rebuild stored.
    fn filled(&self, article: ArticleId, filled: Filled<Entry>, begun: Begun) -> Filled<Entry> {
        let Filled::Stored(entry) = filled else { return Filled::Retry };
        let loaded = entry.map_or(Lookup::Absent, |entry| Lookup::Found { entry, is_stale: false });
        match self.cache.articles(article).keep(article, loaded, From::Owners, begun).0 {
            Lookup::Miss => Filled::Retry,
            Lookup::Absent => Filled::Stored(None),
            Lookup::Found { entry, .. } => Filled::Stored(Some(entry)),
        }
    }
}

#[async_trait]
impl ReadModel for NearReadModel {
    async fn find(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError> {
        let (now, ttl) = (self.cache.now(), self.cache.ttl());
        let mut found = Vec::with_capacity(articles.len());
        let (mut stale, mut missing) = (Vec::new(), Vec::new());
        for (place, article) in articles.iter().enumerate() {
            let cached = self.cache.articles(*article).find(*article, ttl, now);
            match &cached {
                None => missing.push(place),
                Some((_, Age::Stale)) => stale.push(*article),
                Some(_) => {}
            }
            found.push(cached.map_or(Lookup::Miss, |(lookup, _)| lookup));
        }
        self.meters.looked_up(found.len(), missing.len());
        if !stale.is_empty() {
            self.articles.refresh(&stale);
        }
        if !missing.is_empty() {
            let keys: Vec<_> = missing.iter().map(|place| articles[*place]).collect();
            for (place, lookup) in missing.into_iter().zip(self.articles.load(&keys).await?) {
                found[place] = lookup;
            }
        }
        Ok(found)
    }

    async fn find_anew(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError> {
        let found = self.far.find(articles).await?;
        let checked = |(article, found): (&ArticleId, Lookup)| self.cache.articles(*article).checked(*article, found);
        Ok(articles.iter().zip(found).map(checked).collect())
    }

    async fn reserve(&self, articles: &[ArticleId]) -> Result<Reservation, StoreError> {
        Ok(self.begin(self.far.reserve(articles).await?))
    }

    async fn lease(&self, articles: &[ArticleId]) -> Result<Lease, StoreError> {
        let lease = self.far.lease(articles).await?;
        self.begin(lease.reservation);
        Ok(lease)
    }

    async fn fill(
        &self,
        reservation: Reservation,
        told: Vec<(ArticleId, Option<Entry>)>,
    ) -> Result<Vec<Filled<Entry>>, StoreError> {
        let begun = self.reserved().remove(&reservation);
        let articles: Vec<_> = told.iter().map(|(article, _)| *article).collect();
        let filled = self.far.fill(reservation, told).await?;
        let Some(begun) = begun else { return Ok(filled) };
        let joined = articles.into_iter().zip(filled).map(|(article, filled)| self.filled(article, filled, begun));
        Ok(joined.collect())
    }

    /// Of some of its articles: the others may still be filled, so when it began is not forgotten before its time.
    async fn abandon(&self, reservation: Reservation, articles: &[ArticleId]) -> Result<(), StoreError> {
        self.far.abandon(reservation, articles).await
    }

    async fn keep_unshared(&self, told: Vec<(ArticleId, Option<Entry>)>) -> Result<Vec<Option<Entry>>, StoreError> {
        let joined = told.into_iter().map(|(article, entry)| {
            let found = entry.clone().map(|entry| Lookup::Found { entry, is_stale: false })?;
            match self.cache.articles(article).checked(article, found) {
                Lookup::Found { entry, .. } => Some(entry),
                Lookup::Miss | Lookup::Absent => entry,
            }
        });
        Ok(joined.collect())
    }

    async fn merge(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let heard: Vec<_> = changes.iter().map(Invalidation::from).collect();
        self.invalidate(&heard, Origin::Other);
        self.far.merge(changes).await
    }

    async fn settled(&self, articles: &[(ArticleId, u64)]) -> Result<Vec<bool>, StoreError> {
        self.far.settled(articles).await
    }

    async fn list(&self, board: BoardId, window: Window) -> Result<ListLookup, StoreError> {
        let (now, ttl) = (self.cache.now(), self.cache.ttl());
        let cached = self.cache.lists(board).find(board, ttl, now);
        let list = match cached {
            Some((list, age)) => {
                if age == Age::Stale {
                    self.lists.refresh(&[board]);
                }
                list
            }
            None => self.lists.load(&[board]).await?.pop().unwrap_or(NearList::Miss),
        };
        Ok(match list {
            NearList::Miss => ListLookup::Miss,
            NearList::Absent => ListLookup::Absent,
            NearList::Found(list, is_stale) => ListLookup::Found { step: list.look(window), is_stale },
        })
    }

    async fn list_anew(&self, board: BoardId, window: Window) -> Result<ListLookup, StoreError> {
        self.far.list(board, window).await
    }

    async fn whole_list(&self, board: BoardId) -> Result<WholeList, StoreError> {
        self.far.whole_list(board).await
    }

    async fn lease_list(&self, board: BoardId) -> Result<Option<Reservation>, StoreError> {
        Ok(self.far.lease_list(board).await?.map(|reservation| self.begin(reservation)))
    }

    async fn reserve_list(&self, board: BoardId) -> Result<Reservation, StoreError> {
        Ok(self.begin(self.far.reserve_list(board).await?))
    }

    async fn fill_list(
        &self,
        reservation: Reservation,
        board: BoardId,
        told: Option<NewestArticles>,
    ) -> Result<FilledList, StoreError> {
        let begun = self.reserved().remove(&reservation);
        let filled = self.far.fill_list(reservation, board, told).await?;
        let (Some(begun), Filled::Stored(list)) = (begun, &filled) else { return Ok(filled) };
        let loaded = list
            .as_ref()
            .map_or(WholeList::Absent, |list| WholeList::Found { newest: list.newest(LIST_MAX), is_stale: false });
        let (kept, is_other) = self.cache.lists(board).keep(board, loaded, From::Owners, begun);
        if is_other {
            self.cache.changed();
        }
        Ok(match kept {
            NearList::Miss => Filled::Retry,
            NearList::Absent => Filled::Stored(None),
            NearList::Found(list, _) => Filled::Stored(Some(list)),
        })
    }

    async fn abandon_list(&self, reservation: Reservation, board: BoardId) -> Result<(), StoreError> {
        self.reserved().remove(&reservation);
        self.far.abandon_list(reservation, board).await
    }

    async fn drop_candidates(&self, board: BoardId, gone: &[ArticleId]) -> Result<(), StoreError> {
        self.cache.drop_candidates(board, gone);
        self.far.drop_candidates(board, gone).await
    }

    async fn entries(&self, shard: ShardId) -> Result<Vec<(ArticleId, Entry)>, StoreError> {
        self.far.entries(shard).await
    }

    async fn held_list(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        self.far.held_list(board, limit).await
    }

    fn generation(&self) -> Option<u64> {
        Some(self.cache.generation())
    }

    fn rendered_ttl(&self) -> Duration {
        RENDERED_TTL
    }

    fn ranking_ttl(&self) -> RankingTtl {
        let Ttl { fresh_ms, ttl_ms } = self.cache.ttl();
        RankingTtl { fresh_ms, ttl_ms }
    }

    async fn clear(&self) -> Result<(), StoreError> {
        let cleared = self.far.clear().await;
        self.forget();
        self.others.cleared().await;
        cleared
    }

    async fn size(&self) -> Result<ModelSize, StoreError> {
        self.meters.report(self.near_size());
        self.far.size().await
    }

    async fn run(&self, stop: &Stop) {
        tokio::join!(self.article_loads.run(stop), self.list_loads.run(stop));
    }
}
