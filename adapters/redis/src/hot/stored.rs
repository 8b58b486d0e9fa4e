//! Lists that only the store can tell, kept for a moment: days that are over hardly change, and whoever opens the front page
//! asks for six of them. What this process changes is asked for anew at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use madang_hot_article::{Day, HotList, HotStore};
use madang_kernel::StoreError;

/// How old a list may be.
const KEPT: Duration = Duration::from_secs(1);

pub(super) struct StoredLists {
    store: Arc<dyn HotStore>,
    kept: Mutex<Kept>,
    /// Whoever has it asks the store; the others wait, and find what was brought.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Kept {
    lists: BTreeMap<Day, (Instant, HotList)>,
    /// Changed since the store was asked last.
    changed: BTreeSet<Day>,
    all_changed: bool,
}

impl StoredLists {
    pub(super) fn new(store: Arc<dyn HotStore>) -> Self {
        Self { store, kept: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// The lists of days, in the order asked.
    pub(super) async fn of(&self, days: &[Day]) -> Result<Vec<HotList>, StoreError> {
        if let Some(lists) = self.kept().all(days) {
            return Ok(lists);
        }
        let _turn = self.turn.lock().await;
        if let Some(lists) = self.kept().all(days) {
            return Ok(lists);
        }
        self.kept().unchanged();
        let lists = self.store.lists(days.to_vec()).await?;
        let now = Instant::now();
        let mut kept = self.kept();
        for list in &lists {
            if !kept.all_changed && !kept.changed.contains(&list.date) {
                kept.lists.insert(list.date, (now, list.clone()));
            }
        }
        Ok(lists)
    }

    /// A day is no longer what it was.
    pub(super) fn changed(&self, day: Day) {
        let mut kept = self.kept();
        kept.lists.remove(&day);
        kept.changed.insert(day);
    }

    /// Any day may be another.
    pub(super) fn all_changed(&self) {
        let mut kept = self.kept();
        kept.lists.clear();
        kept.all_changed = true;
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn unchanged(&mut self) {
        self.changed.clear();
        self.all_changed = false;
    }

    fn all(&mut self, days: &[Day]) -> Option<Vec<HotList>> {
        self.lists.retain(|_, (at, _)| at.elapsed() < KEPT);
        days.iter().map(|day| self.lists.get(day).map(|(_, list)| list.clone())).collect()
    }
}
