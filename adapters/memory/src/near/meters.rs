//! Figures of the near cache. Handles are looked up once: a hit must not cost more than the look-up it counts.

use std::sync::OnceLock;

use madang_article_read::ModelSize;
use metrics::Counter;

/// What is counted.
#[derive(Default)]
pub(super) struct NearMeters(OnceLock<Counters>);

struct Counters {
    hits: Counter,
    misses: Counter,
    invalidations: Counter,
    clears: Counter,
}

impl NearMeters {
    /// So many articles were looked up, of which so many had to be loaded.
    pub(super) fn looked_up(&self, articles: usize, missing: usize) {
        let counters = self.counters();
        counters.hits.increment((articles - missing) as u64);
        if missing > 0 {
            counters.misses.increment(missing as u64);
        }
    }

    /// So many changes were heard of.
    pub(super) fn invalidated(&self, changes: usize) {
        self.counters().invalidations.increment(changes as u64);
    }

    /// Everything was forgotten.
    pub(super) fn cleared(&self) {
        self.counters().clears.increment(1);
    }

    /// How much is cached.
    pub(super) fn report(&self, size: ModelSize) {
        metrics::gauge!("madang_near_entries").set(size.entries as f64);
        metrics::gauge!("madang_near_lists").set(size.lists as f64);
        metrics::gauge!("madang_near_bytes").set(size.bytes as f64);
    }

    fn counters(&self) -> &Counters {
        // At the first use, when the recorder is sure to be in place.
        self.0.get_or_init(|| Counters {
            hits: metrics::counter!("madang_near_hits_total"),
            misses: metrics::counter!("madang_near_misses_total"),
            invalidations: metrics::counter!("madang_near_invalidations_total"),
            clears: metrics::counter!("madang_near_clears_total"),
        })
    }
}
