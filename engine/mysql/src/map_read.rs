//! When a process last read the shard map. One that was stopped for long may know a map by which rows have been removed since:
//! it reads the map before it reads anything else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::errors::SqlError;

/// A map that was read longer ago is not used for reading. Far longer than a map is usually not read for, and shorter than an
/// old copy of a shard is kept.
pub(crate) const MAP_AGE_MAX: Duration = Duration::from_secs(30);

/// Shared by the servers of one database.
#[derive(Debug)]
pub(crate) struct MapRead {
    began: Instant,
    /// Milliseconds from then to the last reading.
    read_ms: AtomicU64,
}

impl MapRead {
    /// As if it had just been read: whoever starts reads it first.
    pub(crate) fn now() -> Self {
        Self { began: Instant::now(), read_ms: AtomicU64::new(0) }
    }

    /// Notes that it was asked for at `at`, and told.
    pub(crate) fn note(&self, at: Instant) {
        self.read_ms.fetch_max(millis(at.saturating_duration_since(self.began)), Ordering::Relaxed);
    }

    /// Refuses while the map is too old to read by.
    pub(crate) fn is_recent(&self) -> Result<(), SqlError> {
        self.is_recent_at(Instant::now())
    }

    fn is_recent_at(&self, now: Instant) -> Result<(), SqlError> {
        let age_ms =
            millis(now.saturating_duration_since(self.began)).saturating_sub(self.read_ms.load(Ordering::Relaxed));
        if age_ms <= millis(MAP_AGE_MAX) {
            return Ok(());
        }
        Err(SqlError::Unavailable(format!("the shard map was last read {} s ago, and is read first", age_ms / 1_000)))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_stopped_for_long_reads_the_map_first() {
        let map = MapRead::now();
        let later = map.began + MAP_AGE_MAX + Duration::from_secs(1);
        assert!(map.is_recent().is_ok());
        assert!(map.is_recent_at(later).unwrap_err().is_unavailable());
        map.note(later);
        assert!(map.is_recent_at(later + MAP_AGE_MAX).is_ok());
        map.note(map.began);
        assert!(map.is_recent_at(later).is_ok(), "an older reading takes nothing back");
    }
}
