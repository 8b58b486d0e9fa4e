//! Counts faults by kind, as they happen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The kind under which the crashes at crash points are counted.
pub const CRASH_POINT: &str = "crash point";

/// Faults so far. Clones share the counts.
#[derive(Debug, Clone)]
pub struct Faults {
    counts: Arc<Mutex<BTreeMap<String, u64>>>,
    /// Where processes write down at which point they crash.
    crash_log: PathBuf,
}

impl Faults {
    /// None so far.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { counts: Arc::default(), crash_log: dir.join("crashes.log") }
    }

    /// The file in which processes write down at which point they crash.
    #[must_use]
    pub fn crash_log(&self) -> &Path {
        &self.crash_log
    }

    /// One more of a kind.
    pub fn count(&self, kind: &str) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(kind.to_owned()).or_default() += 1;
    }

    /// Crashes by their point.
    #[must_use]
    pub fn crashes(&self) -> BTreeMap<String, u64> {
        let mut crashes = BTreeMap::new();
        for point in std::fs::read_to_string(&self.crash_log).unwrap_or_default().lines() {
            *crashes.entry(point.to_owned()).or_default() += 1;
        }
        crashes
    }

    /// Everything by kind, crashes together.
    #[must_use]
    pub fn by_kind(&self) -> BTreeMap<String, u64> {
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let crashes = self.crashes().values().sum::<u64>();
        if crashes > 0 {
            *all.entry(CRASH_POINT.to_owned()).or_default() += crashes;
        }
        all
    }

    /// How many, of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_kind().values().sum()
    }
}
