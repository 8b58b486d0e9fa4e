//! The consumer groups that run in this process, by name, each with the handles that pause it and tell where it is stuck.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_messaging::{ConsumerPause, ConsumerStuck};
use madang_server::PartState;

/// What the part of a group is called, before its name.
pub(crate) const GROUP: &str = "group ";

/// Handles of the groups; empty in a command that runs alone. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct RunningGroups(Arc<Mutex<BTreeMap<&'static str, (ConsumerPause, ConsumerStuck)>>>);

impl RunningGroups {
    /// Notes a group that runs here.
    pub(crate) fn add(&self, name: &'static str, pause: ConsumerPause, stuck: ConsumerStuck) {
        self.all().insert(name, (pause, stuck));
    }

    /// The pause handle of a group; `None` when it does not run here.
    pub(crate) fn pause_of(&self, name: &str) -> Option<ConsumerPause> {
        self.all().get(name).map(|(pause, _)| pause.clone())
    }

    /// Where a group is stuck, and the way past it; `None` when it does not run here.
    pub(crate) fn stuck_of(&self, name: &str) -> Option<ConsumerStuck> {
        self.all().get(name).map(|(_, stuck)| stuck.clone())
    }

    /// Every group that runs here.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all().keys().copied().collect()
    }

    /// A group as `/readyz` shows it: its lag, with a word when it is paused, or where it is stuck.
    pub(crate) fn part(&self, name: &str, lag: String) -> PartState {
        let is_paused = self.pause_of(name).is_some_and(|pause| pause.is_paused());
        let stuck = self.stuck_of(name).map(|stuck| stuck.at()).unwrap_or_default();
        let detail = if is_paused { format!("paused, {lag}") } else { lag };
        let detail = match stuck.is_empty() {
            true => detail,
            false => format!("stuck at {}, {detail}", stuck.join(" and at ")),
        };
        PartState { name: format!("{GROUP}{name}"), ok: stuck.is_empty(), detail }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<&'static str, (ConsumerPause, ConsumerStuck)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
