//! The ranking of a day in Redis, beside the store that keeps the scores.
//!
//! What commits in the store is put into the day's sorted set, set only if newer. A day is read from Redis while it is marked
//! as whole; a process that could not put something in takes the mark away as soon as it can, and does so for every day it
//! touches first, because the process before it may have died in between. A day without a mark is read from the store, and
//! made anew by the next changes of it. Days whose lists are final, and Redis away, are the store's.

mod day;
mod list_cache;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_engine_redis::{Failure, Redis};
use madang_hot_article::{
    Day, Forgotten, HotApplied, HotChange, HotItem, HotList, HotStore, LISTED_MAX, Offsets, RankingSlice, Replacement,
    TOP_MAX, Tally,
};
use madang_kernel::StoreError;
use tracing::{debug, warn};

use self::list_cache::{ListCache, RankedCache};

/// Articles read from the store at once when a day is made anew.
const REBUILD_SLICE: usize = 500;

/// A store whose rankings are read from Redis.
pub struct RankedHot {
    inner: Arc<dyn HotStore>,
    cache: ListCache,
    near: RankedCache,
    redis: Redis,
    days: Mutex<Days>,
}

/// What this process knows of days.
#[derive(Default)]
struct Days {
    /// Followed since this process touched them first.
    followed: BTreeSet<Day>,
    /// Something of them could not be put into Redis.
    behind: BTreeSet<Day>,
    /// Final, and removed from Redis.
    is_final: BTreeSet<Day>,
}

/// Why a day could not be followed.
enum Behind {
    Redis(Failure),
    Store(StoreError),
}

impl From<Failure> for Behind {
    fn from(failure: Failure) -> Self {
        Self::Redis(failure)
    }
}

impl From<StoreError> for Behind {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl RankedHot {
    /// Rankings of `inner` under the prefix of `redis`. `inner` must tell tallies, or everything is read from it.
    pub fn new(inner: Arc<dyn HotStore>, redis: Redis) -> Self {
        let (cache, near) = (ListCache::new(Arc::clone(&inner)), RankedCache::default());
        Self { cache, near, inner, redis, days: Mutex::new(Days::default()) }
    }

    /// Makes the ranking of a day anew from the store. Nothing happens when another process is at it, or the day is final.
    pub async fn rebuild_day(&self, day: Day) -> Result<(), StoreError> {
        self.make_anew(day).await.map_err(|behind| match behind {
            Behind::Redis(failure) => failure.into(),
            Behind::Store(error) => error,
        })
    }

    /// Believes no ranking any more that is in Redis: it is another one than before.
    pub fn doubt_all(&self) {
        let mut days = self.days();
        let Days { followed, behind, .. } = &mut *days;
        behind.extend(followed.iter().copied());
        self.near.changed();
    }

    /// Makes the days anew that are believed no longer; what fails is made by the next changes of the day.
    async fn make_doubted_anew(&self) {
        let doubted: Vec<Day> = self.days().behind.iter().copied().collect();
        for day in doubted {
            let made = async {
                day::distrust(&self.redis, day).await?;
                self.make_anew(day).await
            };
            match made.await {
                Ok(()) => drop(self.days().behind.remove(&day)),
                Err(Behind::Redis(failure)) => {
                    debug!(%day, "hot articles: the ranking in redis cannot be rebuilt yet: {failure}");
                }
                Err(Behind::Store(error)) => {
                    warn!(%day, "hot articles: the ranking in redis cannot be rebuilt yet: {error}");
                }
            }
        }
    }

    fn days(&self) -> MutexGuard<'_, Days> {
        self.days.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was committed into the ranking of its day. The changes are durable already, so a failure only makes the
    /// day one to be read from the store.
    async fn follow(&self, day: Day, articles: Vec<ArticleId>) {
        if self.days().is_final.contains(&day) {
            return;
        }
        match self.try_to_follow(day, articles).await {
            Ok(()) => {}
            Err(Behind::Redis(failure)) => {
                debug!(%day, "hot articles: redis was not told of a change and is brought up to date later: {failure}");
                self.days().behind.insert(day);
            }
            Err(Behind::Store(error)) => {
                warn!(%day, "hot articles: redis was not told of a change and is brought up to date later: {error}");
                self.days().behind.insert(day);
            }
        }
    }

    async fn try_to_follow(&self, day: Day, articles: Vec<ArticleId>) -> Result<(), Behind> {
        let is_trusted = {
            let days = self.days();
            days.followed.contains(&day) && !days.behind.contains(&day)
        };
        if !is_trusted {
            day::distrust(&self.redis, day).await?;
            let mut days = self.days();
            days.followed.insert(day);
            days.behind.remove(&day);
        }
        let mut is_whole = true;
        for slice in articles.chunks(REBUILD_SLICE) {
            let Some(tallies) = self.inner.tallies(day, slice.to_vec()).await? else { return Ok(()) };
            let tallies: Vec<(ArticleId, Tally)> = slice.iter().copied().zip(tallies).collect();
            is_whole &= day::push(&self.redis, day, &tallies).await?;
        }
        if is_whole { Ok(()) } else { self.make_anew(day).await }
    }

    async fn make_anew(&self, day: Day) -> Result<(), Behind> {
        if self.inner.is_final(day).await? {
            return Ok(self.leave(day).await?);
        }
        let Some(token) = day::begin(&self.redis, day).await? else { return Ok(()) };
        let mut after = None;
        loop {
            let Some(slice) = self.inner.tallies_after(day, after, REBUILD_SLICE).await? else { return Ok(()) };
            day::push(&self.redis, day, &slice).await?;
            after = slice.last().map(|(article, _)| *article);
            if slice.len() < REBUILD_SLICE {
                return Ok(day::finish(&self.redis, day, token).await?);
            }
        }
    }

    /// A final day is the store's.
    async fn leave(&self, day: Day) -> Result<(), Failure> {
        day::remove(&self.redis, day).await?;
        let mut days = self.days();
        days.behind.remove(&day);
        days.is_final.insert(day);
        Ok(())
    }

    async fn note_final(&self, day: Day) {
        if !self.days().is_final.contains(&day) && self.leave(day).await.is_err() {
            self.days().behind.insert(day);
        }
    }

    /// The listed articles of days as Redis had them a moment ago; `None` for those that the store must be asked for.
    async fn ranked_near(&self, days: &[Day]) -> Vec<Option<Vec<HotItem>>> {
        if let Some(cached) = self.near.all(days) {
            return cached;
        }
        let (changes, asked) = (self.near.changes(), Instant::now());
        let ranked = self.ranked(days, LISTED_MAX).await;
        self.near.insert(days, &ranked, changes, asked);
        ranked
    }

    /// The best of days as Redis has them; `None` for those that the store must be asked for.
    async fn ranked(&self, wanted: &[Day], limit: usize) -> Vec<Option<Vec<HotItem>>> {
        let ranked: Vec<Day> = {
            let days = self.days();
            let is_ranked = |day: &&Day| !days.behind.contains(*day) && !days.is_final.contains(*day);
            wanted.iter().filter(is_ranked).copied().collect()
        };
        let found = match day::top(&self.redis, &ranked, limit).await {
            Ok(found) => found,
            Err(Failure::Away(_)) => Vec::new(),
            Err(defect @ Failure::Defect(_)) => {
                warn!("hot articles: redis gave a wrong reply, reading the ranking from the database: {defect}");
                Vec::new()
            }
        };
        let mut found: BTreeMap<Day, Vec<HotItem>> =
            ranked.into_iter().zip(found).filter_map(|(day, items)| Some((day, items?))).collect();
        wanted.iter().map(|day| found.remove(day)).collect()
    }
}

#[async_trait]
impl HotStore for RankedHot {
    async fn apply(&self, changes: Vec<HotChange>, done: Offsets) -> Result<HotApplied, StoreError> {
        let mut days: BTreeMap<Day, BTreeSet<ArticleId>> = BTreeMap::new();
        for change in &changes {
            days.entry(change.day).or_default().insert(change.article_id);
        }
        let applied = self.inner.apply(changes, done).await?;
        // Also what changed nothing is put in: it may have been delivered before, to a process that died after its commit.
        for (day, articles) in days {
            self.cache.changed(day);
            self.follow(day, articles.into_iter().collect()).await;
            self.near.changed();
        }
        Ok(applied)
    }

    async fn top(&self, day: Day, limit: usize) -> Result<Vec<HotItem>, StoreError> {
        match self.ranked(&[day], limit.min(TOP_MAX)).await.pop().flatten() {
            Some(items) => Ok(items),
            None => self.inner.top(day, limit).await,
        }
    }

    /// Those that Redis has are each of one moment, those of the store of one together.
    async fn lists(&self, days: Vec<Day>) -> Result<Vec<HotList>, StoreError> {
        let ranked = self.ranked_near(&days).await;
        let missing = days.iter().zip(&ranked).filter(|(_, items)| items.is_none()).map(|(day, _)| *day);
        let missing: Vec<Day> = missing.collect();
        let mut stored = if missing.is_empty() { Vec::new() } else { self.cache.of(&missing).await? }.into_iter();
        let mut lists = Vec::with_capacity(days.len());
        for (date, items) in days.into_iter().zip(ranked) {
            match items {
                Some(items) => lists.push(HotList { date, is_final: false, items }),
                None => lists.extend(stored.next()),
            }
        }
        Ok(lists)
    }

    async fn finalise(&self, day: Day) -> Result<bool, StoreError> {
        let was_not = self.inner.finalise(day).await?;
        self.cache.changed(day);
        self.note_final(day).await;
        self.near.changed();
        Ok(was_not)
    }

    async fn is_final(&self, day: Day) -> Result<bool, StoreError> {
        let is_final = self.inner.is_final(day).await?;
        if is_final {
            self.note_final(day).await;
        }
        Ok(is_final)
    }

    async fn tallies(&self, day: Day, articles: Vec<ArticleId>) -> Result<Option<Vec<Tally>>, StoreError> {
        self.inner.tallies(day, articles).await
    }

    async fn tallies_after(
        &self,
        day: Day,
        after: Option<ArticleId>,
        slice: usize,
    ) -> Result<Option<Vec<(ArticleId, Tally)>>, StoreError> {
        self.inner.tallies_after(day, after, slice).await
    }

    /// What is replaced may be older than what the ranking has, which takes only what is newer: the day is the store's until
    /// the end of the rebuild, when it is made anew.
    async fn replace(&self, day: Day, tallies: Vec<Replacement>) -> Result<Vec<ArticleId>, StoreError> {
        let changed = self.inner.replace(day, tallies).await?;
        self.cache.changed(day);
        {
            let mut days = self.days();
            days.followed.insert(day);
            days.behind.insert(day);
        }
        if let Err(failure) = day::distrust(&self.redis, day).await {
            debug!(%day, "hot articles: redis was not told of a change and is brought up to date later: {failure}");
        }
        self.near.changed();
        Ok(changed)
    }

    async fn forget_before(&self, day: Day, slice: usize) -> Result<Forgotten, StoreError> {
        let forgotten = self.inner.forget_before(day, slice).await?;
        self.cache.all_changed();
        let old: Vec<Day> = {
            let days = self.days();
            [&days.followed, &days.behind, &days.is_final]
                .into_iter()
                .flatten()
                .filter(|old| **old < day)
                .copied()
                .collect()
        };
        for old in old {
            // What cannot be removed now expires.
            let _ = day::remove(&self.redis, old).await;
            let mut days = self.days();
            let Days { followed, behind, is_final } = &mut *days;
            for days in [followed, behind, is_final] {
                days.remove(&old);
            }
        }
        self.near.changed();
        Ok(forgotten)
    }

    async fn rebuild_ranking(&self, after: Option<(Day, ArticleId)>, slice: usize) -> Result<RankingSlice, StoreError> {
        let rebuilt = self.inner.rebuild_ranking(after, slice).await?;
        self.cache.all_changed();
        if rebuilt.next.is_none() {
            // The store's scores were in doubt, so Redis is too.
            self.doubt_all();
            self.make_doubted_anew().await;
        }
        self.near.changed();
        Ok(rebuilt)
    }
}
