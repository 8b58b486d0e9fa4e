//! The consumer groups that run in this process, by name, each with the handle that pauses it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_messaging::ConsumerPause;

/// Pause handles of the groups; empty in a command that runs alone. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct RunningGroups(Arc<Mutex<BTreeMap<&'static str, ConsumerPause>>>);

impl RunningGroups {
    /// Notes a group that runs here.
    pub(crate) fn add(&self, name: &'static str, pause: ConsumerPause) {
        self.all().insert(name, pause);
    }

    /// The pause handle of a group; `None` when it does not run here.
    pub(crate) fn pause_of(&self, name: &str) -> Option<ConsumerPause> {
        self.all().get(name).cloned()
    }

    /// Every group that runs here.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all().keys().copied().collect()
    }

    /// The lag of a group as `/readyz` shows it, with a word when the group is paused.
    pub(crate) fn describe(&self, name: &str, lag: String) -> String {
        let is_paused = self.pause_of(name).is_some_and(|pause| pause.is_paused());
        if is_paused { format!("paused, {lag}") } else { lag }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<&'static str, ConsumerPause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
