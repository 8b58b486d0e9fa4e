//! The simulated cache of the projection: nothing in it expires, so that what is wrong in it stays wrong until somebody looks.

use std::collections::BTreeMap;

#[derive(Default)]
struct Slot {
    /// The version cached, if any.
    cached: Option<u32>,
    /// The version of the last invalidation: nothing older may be cached any more.
    floor: u32,
}

#[derive(Default)]
pub(crate) struct Cache(BTreeMap<String, Slot>);

impl Cache {
    /// What a reader finds.
    pub(crate) fn look(&self, key: &str) -> Option<u32> {
        self.0.get(key).and_then(|slot| slot.cached)
    }

    /// The projection has come to a version.
    pub(crate) fn invalidate(&mut self, key: &str, version: u32) {
        let slot = self.0.entry(key.to_owned()).or_default();
        slot.cached = None;
        slot.floor = slot.floor.max(version);
    }

    /// A reader brings what it read a while ago. The plain way keeps it; the versioned way only if nothing newer is known.
    pub(crate) fn fill(&mut self, key: &str, version: u32, versioned: bool) {
        let slot = self.0.entry(key.to_owned()).or_default();
        let newest = slot.cached.unwrap_or(0).max(slot.floor);
        if !versioned || version >= newest {
            slot.cached = Some(version);
        }
    }

    /// Everything that readers would be given.
    pub(crate) fn cached(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().filter_map(|(key, slot)| Some((key.as_str(), slot.cached?)))
    }
}
