//! Waiting for something that can be observed, within generous bounds: the machine may be slow.

use std::time::{Duration, Instant};

const EVENTUALLY: Duration = Duration::from_secs(60);

/// Looks until something is seen.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(EVENTUALLY, what, look)
}

/// The same within a bound of the caller's.
#[track_caller]
pub(crate) fn within<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        // Between two looks at the observable, not instead of one.
        std::thread::park_timeout(Duration::from_millis(25));
    }
}
