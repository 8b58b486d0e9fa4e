//! Time as a value that is passed in: a system clock for production, one set by hand for tests and the simulation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment: milliseconds since 1970-01-01T00:00:00Z. In JSON, RFC 3339 UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From Unix milliseconds.
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Unix milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This moment moved by a span.
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The span since `earlier`; zero if that lies in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms since 1970", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let not_one = |_| de::Error::custom("must be a time as in 2026-01-31T09:30:00Z (RFC 3339)");
        let moment: jiff::Timestamp = text.parse().map_err(not_one)?;
        Ok(Self(moment.as_millisecond()))
    }
}

/// A moment in JSON as Unix milliseconds, for messages between processes: `#[serde(with = "millis")]`.
pub mod millis {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Timestamp;

    /// Writes the milliseconds.
    pub fn serialize<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        moment.as_millis().serialize(serializer)
    }

    /// Reads the milliseconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_millis)
    }
}

/// Where time comes from.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// A clock for what must not happen too early, such as forgetting: never ahead of the time that has passed since it was
/// made. A host's clock that jumps ahead does not move it, and one that jumps back takes it along.
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    started: (Timestamp, Instant),
}

impl SteadyClock {
    /// Starts with what `clock` shows.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let started = (clock.now(), Instant::now());
        Self { clock, started }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        let (shown, at) = self.started;
        self.clock.now().min(shown.plus(at.elapsed()))
    }
}

/// The host's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where the host's clock is read")]
    fn now(&self) -> Timestamp {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves the clock to `now`, forwards or back.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    /// Moves the clock forwards.
    pub fn advance(&self, span: Duration) {
        let span_ms = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(span_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_clock_does_not_jump_ahead() {
        let day = Duration::from_secs(24 * 60 * 60);
        let start = Timestamp::from_millis(1_704_067_200_000);
        let host = Arc::new(ManualClock::at(start));
        let steady = SteadyClock::new(host.clone());
        host.set(start.plus(40 * day));
        assert!(steady.now() < start.plus(day), "{}", steady.now());
        host.set(Timestamp::from_millis(start.as_millis() - 1_000));
        assert_eq!(steady.now(), host.now(), "back it goes at once");
    }

    #[test]
    fn times_are_rfc_3339_utc_with_milliseconds() {
        let json = |ms| serde_json::to_string(&Timestamp::from_millis(ms)).unwrap();
        assert_eq!(json(1_704_067_200_000), "\"2024-01-01T00:00:00.000Z\"");
        assert_eq!(json(1_704_067_200_007), "\"2024-01-01T00:00:00.007Z\"");
        let back: Timestamp = serde_json::from_str("\"2024-01-01T09:00:00.007+09:00\"").unwrap();
        assert_eq!(back.as_millis(), 1_704_067_200_007);
    }
}
