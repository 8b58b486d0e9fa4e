//! How a process has fared over the last day, in slots of five minutes: for operators who have no Prometheus.

use std::time::Duration;

use madang_kernel::Timestamp;

/// How long a slot is, in milliseconds.
const HEALTH_SLOT_MS: i64 = 5 * 60 * 1_000;
/// The same.
pub const HEALTH_SLOT: Duration = Duration::from_millis(HEALTH_SLOT_MS.unsigned_abs());
/// Slots of a day; older ones are forgotten.
pub const HEALTH_SLOTS: usize = 288;

const _: () = assert!(HEALTH_SLOT_MS.unsigned_abs() * HEALTH_SLOTS as u64 == 24 * 60 * 60 * 1_000);

/// Knows how the process has fared.
pub trait HealthHistory: Send + Sync {
    /// The slots of the last day in which it ran, oldest first; the last one is not over yet.
    fn slots(&self) -> Vec<HealthSlot>;
}

/// What was seen in five minutes. What is not known here is `None`, never 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HealthSlot {
    /// Which of all slots, by a clock that does not jump.
    pub number: i64,
    /// How much of it was seen: less than the whole in the first and in the present one.
    pub seen: Duration,
    /// Requests that were answered.
    pub requests: u64,
    /// Those of them answered with 5xx.
    pub errors: u64,
    /// Those of these that were refused because there was too much to do.
    pub shed: u64,
    /// Half of them took no longer, in seconds.
    pub median_s: Option<f64>,
    /// 99 of 100 took no longer.
    pub slow_s: Option<f64>,
    /// How far behind the slowest consumer group was at the worst, in seconds.
    pub lag_s: Option<f64>,
    /// The most memory that was seen in use.
    pub memory_bytes: Option<u64>,
    /// The least room that was seen on the disk of the data directory.
    pub disk_available_bytes: Option<u64>,
}

impl HealthSlot {
    /// The slot that a moment belongs to.
    pub fn number_at(now: Timestamp) -> i64 {
        now.as_millis().div_euclid(HEALTH_SLOT_MS)
    }

    /// Requests a second.
    pub fn rate(&self) -> Option<f64> {
        let seen_s = self.seen.as_secs_f64();
        (seen_s > 0.0).then(|| self.requests as f64 / seen_s)
    }
}
