//! Who relayed what: tells how often two processes took a shard for their own at once.

use std::collections::BTreeMap;

use madang_kernel::EventId;

/// The processes that published each event, as bits.
#[derive(Default)]
pub(crate) struct Relayed(BTreeMap<EventId, u8>);

impl Relayed {
    pub(crate) fn note(&mut self, event: EventId, process: usize) {
        *self.0.entry(event).or_default() |= 1 << process;
    }

    /// Events that more than one process published.
    pub(crate) fn by_two(&self) -> u64 {
        self.0.values().filter(|processes| processes.count_ones() > 1).count() as u64
    }
}
