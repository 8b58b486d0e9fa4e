//! The consumer groups that run in this process, by name, with the switch of each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_messaging::ConsumerPause;

/// The switches of the groups; empty in a command that runs alone. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Groups(Arc<Mutex<BTreeMap<&'static str, ConsumerPause>>>);

impl Groups {
    /// Notes a group that runs here.
    pub(crate) fn add(&self, name: &'static str, pause: ConsumerPause) {
        self.all().insert(name, pause);
    }

    /// The switch of a group; `None` when it does not run here.
    pub(crate) fn pause_of(&self, name: &str) -> Option<ConsumerPause> {
        self.all().get(name).cloned()
    }

    /// Every group that runs here.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all().keys().copied().collect()
    }

    /// How far a group has come, with word of a rest.
    pub(crate) fn in_words(&self, name: &str, progress: String) -> String {
        let rests = self.pause_of(name).is_some_and(|pause| pause.is_paused());
        if rests { format!("paused, {progress}") } else { progress }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<&'static str, ConsumerPause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
