//! A record that a consumer cannot get past: where it lies and why, and an operator's word to pass over it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::Input;
use crate::Position;

/// Records that a consumer is told to pass over at a time; the oldest are forgotten first.
const SKIPS_MAX: usize = 64;
const STUCK: &str = "messaging_consumer_stuck";

/// Tells where a consumer is stuck, and has it pass over a record. Clones are the same, and it outlives restarts of the
/// consumer's task.
#[derive(Debug, Clone)]
pub struct ConsumerStuck {
    /// By level.
    at: Arc<Mutex<BTreeMap<Option<usize>, String>>>,
    skips: watch::Sender<Vec<Position>>,
}

impl Default for ConsumerStuck {
    fn default() -> Self {
        Self { at: Arc::default(), skips: watch::Sender::new(Vec::new()) }
    }
}

impl ConsumerStuck {
    /// What it waits for a person to decide, in words; empty while it works.
    pub fn at(&self) -> Vec<String> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Has it pass over these records, whenever they come: each is neither applied nor kept as a dead letter.
    pub fn skip(&self, records: impl IntoIterator<Item = Position>) {
        self.skips.send_if_modified(|known| {
            let before = known.len();
            let fresh: Vec<Position> = records.into_iter().filter(|record| !known.contains(record)).collect();
            known.extend(fresh);
            let is_changed = known.len() > before;
            known.drain(..known.len().saturating_sub(SKIPS_MAX));
            is_changed
        });
    }

    pub(super) fn set(&self, group: &str, rung: Option<usize>, stuck: Option<(&Position, &String)>) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        match stuck {
            Some((record, reason)) => at.insert(rung, format!("{record}: {reason}")),
            None => at.remove(&rung),
        };
        drop(at);
        self.show(group);
    }

    /// Shows at how many levels the group is stuck.
    pub(super) fn show(&self, group: &str) {
        let levels = self.at.lock().unwrap_or_else(PoisonError::into_inner).len();
        metrics::gauge!(STUCK, "group" => group.to_owned()).set(levels as f64);
    }

    pub(super) fn skips(&self) -> SkipList {
        let mut skips = self.skips.subscribe();
        // What was said before this level began is news to it.
        skips.mark_changed();
        SkipList { skips }
    }
}

/// The records to pass over, as one level sees them.
pub(super) struct SkipList {
    skips: watch::Receiver<Vec<Position>>,
}

impl SkipList {
    /// What the level is to be told, if something was added since it was told last.
    pub(super) fn changed(&mut self) -> Option<Input> {
        let has_changed = self.skips.has_changed().unwrap_or(false);
        let skips = has_changed.then(|| self.skips.borrow_and_update().clone());
        skips.filter(|skips| !skips.is_empty()).map(Input::Skip)
    }

    /// Returns when something is added.
    pub(super) async fn touched(&mut self) {
        if self.skips.changed().await.is_err() {
            // The handle is gone, so nobody will ever add one.
            std::future::pending::<()>().await;
        }
        self.skips.mark_changed();
    }
}
