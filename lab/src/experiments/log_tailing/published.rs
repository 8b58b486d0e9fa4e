//! What was published, against what was committed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use super::outbox::Event;
use crate::durations::Durations;

/// Publications in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(super) struct Published {
    events: Vec<(Event, Instant)>,
    seen: BTreeSet<u64>,
}

/// What is wrong with publications.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) committed: u64,
    /// Committed, and never published.
    pub(super) lost: u64,
    /// Published more than once, which consumers absorb.
    pub(super) doubled: u64,
    /// First published behind a later version of its account.
    pub(super) disordered: u64,
}

impl Published {
    pub(super) fn note(&mut self, event: Event, at: Instant) {
        self.seen.insert(event.id);
        self.events.push((event, at));
    }

    pub(super) fn count(&self) -> usize {
        self.events.len()
    }

    /// Whether an event was published.
    pub(super) fn has(&self, id: u64) -> bool {
        self.seen.contains(&id)
    }

    /// Whether all of these were published.
    pub(super) fn has_all(&self, committed: &BTreeSet<u64>) -> bool {
        committed.is_subset(&self.seen)
    }

    pub(super) fn judged(&self, committed: &BTreeSet<u64>) -> Judged {
        let mut newest: HashMap<u32, u64> = HashMap::new();
        let mut first = BTreeSet::new();
        let (mut doubled, mut disordered) = (0, 0);
        for (event, _) in &self.events {
            if !first.insert(event.id) {
                doubled += 1;
                continue;
            }
            let newest = newest.entry(event.account).or_default();
            disordered += u64::from(event.version < *newest);
            *newest = event.version.max(*newest);
        }
        let lost = committed.difference(&self.seen).count() as u64;
        Judged { committed: committed.len() as u64, lost, doubled, disordered }
    }

    /// From each commit to its first publication, of these commits.
    pub(super) fn latency(&self, commits: &BTreeMap<u64, Instant>) -> Durations {
        let mut latency = Durations::default();
        let mut first = BTreeSet::new();
        for (event, at) in &self.events {
            if let Some(committed) = commits.get(&event.id).filter(|_| first.insert(event.id)) {
                // Whoever tails the log may be quicker than the answer to COMMIT.
                latency.note(at.saturating_duration_since(*committed));
            }
        }
        latency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_doubles_and_disorder_are_told_apart() {
        let at = Instant::now();
        let mut published = Published::default();
        for (id, account, version) in [(1, 1, 1), (3, 1, 3), (2, 1, 2), (3, 1, 3), (4, 2, 1)] {
            published.note(Event { id, account, version }, at);
        }
        let committed = BTreeSet::from([1, 2, 3, 4, 5]);
        assert!(!published.has_all(&committed));
        let judged = published.judged(&committed);
        assert_eq!(judged, Judged { committed: 5, lost: 1, doubled: 1, disordered: 1 });
        assert!(published.has_all(&BTreeSet::from([1, 4])));
    }

    #[test]
    fn only_the_first_publication_counts_for_the_latency() {
        let at = Instant::now();
        let mut published = Published::default();
        let event = Event { id: 1, account: 1, version: 1 };
        published.note(event, at + std::time::Duration::from_millis(10));
        published.note(event, at + std::time::Duration::from_millis(500));
        let latency = published.latency(&BTreeMap::from([(1, at)]));
        assert_eq!(latency.count(), 1);
        assert!(latency.max_ms() < 11.0);
    }
}
