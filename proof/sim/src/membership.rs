//! The simulated membership store: who has been heard of, by its own clock.

use std::collections::BTreeMap;

use madang_messaging::InstanceId;

#[derive(Default)]
pub(crate) struct Register(BTreeMap<InstanceId, u64>);

impl Register {
    pub(crate) fn beat(&mut self, instance: &InstanceId, now_ms: u64) {
        self.0.insert(instance.clone(), now_ms);
    }

    /// Whether the others count an instance among the living.
    pub(crate) fn has(&self, instance: &InstanceId, dead_after_ms: u64, now_ms: u64) -> bool {
        self.0.get(instance).is_some_and(|heard_at_ms| now_ms < *heard_at_ms + dead_after_ms)
    }

    pub(crate) fn living(&mut self, dead_after_ms: u64, now_ms: u64) -> Vec<InstanceId> {
        self.0.retain(|_, heard_at_ms| now_ms < *heard_at_ms + dead_after_ms);
        self.0.keys().cloned().collect()
    }
}
