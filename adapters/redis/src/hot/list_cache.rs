//! Lists that only the store can tell, cached for a moment: days that are over hardly change, and whoever opens the front
//! page asks for six of them. What this process changes is asked for anew at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use madang_hot_article::{Day, HotItem, HotList, HotStore};
use madang_kernel::StoreError;

/// How long a list is fresh.
const LISTS_TTL: Duration = Duration::from_secs(1);

/// How long a ranking that was read from Redis is fresh: another process may have changed it.
const RANKED_TTL: Duration = Duration::from_millis(200);

/// Rankings that were read from Redis, cached for a moment.
#[derive(Default)]
pub(super) struct RankedCache(Mutex<CachedRankings>);

#[derive(Default)]
struct CachedRankings {
    /// `None` for a day that the store has to be asked for.
    rankings: BTreeMap<Day, (Instant, Option<Vec<HotItem>>)>,
    /// Counts what this process changed.
    changes: u64,
}

impl RankedCache {
    /// The rankings of days, if all of them are fresh.
    pub(super) fn all(&self, days: &[Day]) -> Option<Vec<Option<Vec<HotItem>>>> {
        let mut cached = self.cached();
        cached.rankings.retain(|_, (at, _)| at.elapsed() < RANKED_TTL);
        days.iter().map(|day| cached.rankings.get(day).map(|(_, items)| items.clone())).collect()
    }

    /// To be remembered before Redis is asked.
    pub(super) fn changes(&self) -> u64 {
        self.cached().changes
    }

    /// Caches what Redis answered, unless this process changed something meanwhile.
    pub(super) fn insert(&self, days: &[Day], rankings: &[Option<Vec<HotItem>>], changes: u64, asked: Instant) {
        let mut cached = self.cached();
        if cached.changes == changes {
            cached.rankings.extend(days.iter().zip(rankings).map(|(day, items)| (*day, (asked, items.clone()))));
        }
    }

    /// Any ranking may be another.
    pub(super) fn changed(&self) {
        let mut cached = self.cached();
        cached.rankings.clear();
        cached.changes += 1;
    }

    fn cached(&self) -> MutexGuard<'_, CachedRankings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct ListCache {
    store: Arc<dyn HotStore>,
    cached: Mutex<CachedLists>,
    /// Whoever has it asks the store; the others wait, and find what was brought.
    load: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct CachedLists {
    lists: BTreeMap<Day, (Instant, HotList)>,
    /// Changed since the store was asked last.
    changed: BTreeSet<Day>,
    all_changed: bool,
}

impl ListCache {
    pub(super) fn new(store: Arc<dyn HotStore>) -> Self {
        Self { store, cached: Mutex::default(), load: tokio::sync::Mutex::default() }
    }

    /// The lists of days, in the order asked.
    pub(super) async fn of(&self, days: &[Day]) -> Result<Vec<HotList>, StoreError> {
        if let Some(lists) = self.cached().all(days) {
            return Ok(lists);
        }
        let _load = self.load.lock().await;
        if let Some(lists) = self.cached().all(days) {
            return Ok(lists);
        }
        self.cached().unchanged();
        let lists = self.store.lists(days.to_vec()).await?;
        let now = Instant::now();
        let mut cached = self.cached();
        for list in &lists {
            if !cached.all_changed && !cached.changed.contains(&list.date) {
                cached.lists.insert(list.date, (now, list.clone()));
            }
        }
        Ok(lists)
    }

    /// A day is no longer what it was.
    pub(super) fn changed(&self, day: Day) {
        let mut cached = self.cached();
        cached.lists.remove(&day);
        cached.changed.insert(day);
    }

    /// Any day may be another.
    pub(super) fn all_changed(&self) {
        let mut cached = self.cached();
        cached.lists.clear();
        cached.all_changed = true;
    }

    fn cached(&self) -> MutexGuard<'_, CachedLists> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedLists {
    fn unchanged(&mut self) {
        self.changed.clear();
        self.all_changed = false;
    }

    fn all(&mut self, days: &[Day]) -> Option<Vec<HotList>> {
        self.lists.retain(|_, (at, _)| at.elapsed() < LISTS_TTL);
        days.iter().map(|day| self.lists.get(day).map(|(_, list)| list.clone())).collect()
    }
}
