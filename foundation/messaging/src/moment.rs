//! Time as the machines see it: one clock to measure spans by, another to agree with other hosts about.

use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{Clock, Timestamp};

/// A moment on one process.
///
/// Spans (back-off, deadlines, heartbeats) are measured on the monotonic clock, which no administrator turns back; the
/// wall clock is read only for what another process wrote, and never trusted for longer than the span it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since some start of this process's own; never goes back.
    pub elapsed_ms: u64,
    /// The host's clock.
    pub wall: Timestamp,
}

impl Moment {
    /// A moment, as a simulation or a test sets it.
    pub const fn new(elapsed_ms: u64, wall: Timestamp) -> Self {
        Self { elapsed_ms, wall }
    }
}

/// A span in whole milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Reads moments for the loops.
pub(crate) struct Stopwatch {
    clock: Arc<dyn Clock>,
    started: tokio::time::Instant,
}

impl Stopwatch {
    pub(crate) fn start(clock: Arc<dyn Clock>) -> Self {
        Self { clock, started: tokio::time::Instant::now() }
    }

    pub(crate) fn now(&self) -> Moment {
        Moment { elapsed_ms: millis(self.started.elapsed()), wall: self.clock.now() }
    }

    /// Returns when `elapsed_ms` is reached; never, when there is nothing to wait for.
    pub(crate) async fn until(&self, elapsed_ms: Option<u64>) {
        match elapsed_ms {
            Some(ms) => tokio::time::sleep_until(self.started + std::time::Duration::from_millis(ms)).await,
            None => std::future::pending().await,
        }
    }
}
