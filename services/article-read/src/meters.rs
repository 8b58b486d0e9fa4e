//! Figures of the query model. Handles are looked up once: a hit must not cost more than the look-up it counts.

use std::sync::OnceLock;

use metrics::Counter;

/// What a counter is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Article,
    Board,
    Views,
}

/// Counters of one kind.
pub(crate) struct Meters {
    kind: Kind,
    counters: OnceLock<[Counter; 4]>,
}

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meter {
    /// Answered from the model.
    Hits,
    /// Had to wait for a load.
    Misses,
    /// Loaded from the owners because it was not there.
    Rebuilds,
    /// Loaded from the owners because its time was over, while readers got the old one.
    Refreshes,
}

impl Meters {
    pub(crate) fn of(kind: Kind) -> Self {
        Self { kind, counters: OnceLock::new() }
    }

    pub(crate) fn add(&self, meter: Meter, by: usize) {
        if by > 0 {
            // Looked up at the first use, when the recorder is sure to be in place.
            self.counters.get_or_init(|| counters(self.kind))[meter as usize].increment(by as u64);
        }
    }
}

fn counters(kind: Kind) -> [Counter; 4] {
    let kind = match kind {
        Kind::Article => "article",
        Kind::Board => "board",
        Kind::Views => "views",
    };
    [
        metrics::counter!("madang_read_hits_total", "kind" => kind),
        metrics::counter!("madang_read_misses_total", "kind" => kind),
        metrics::counter!("madang_read_rebuilds_total", "kind" => kind),
        metrics::counter!("madang_read_refreshes_total", "kind" => kind),
    ]
}
