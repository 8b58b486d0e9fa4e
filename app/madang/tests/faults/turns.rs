//! One outage at a time: each of these tests measures what people notice, and a neighbour's load would be measured too.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

static TURN: Mutex<()> = Mutex::new(());

/// Waits until nobody else takes servers away.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    // A test that failed has nothing to say about the next.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether full lengths are asked for.
pub(crate) fn is_long() -> bool {
    std::env::var("MADANG_TEST_LONG").is_ok_and(|value| value == "1")
}

/// Whether the ten minutes are asked for that no run has time for every day.
pub(crate) fn is_very_long() -> bool {
    std::env::var("MADANG_TEST_VERY_LONG").is_ok_and(|value| value == "1")
}

/// Lets an outage last: the one thing here that is waited for and cannot be observed.
pub(crate) fn last(duration: Duration) {
    let until = std::time::Instant::now() + duration;
    while let Some(left) = until.checked_duration_since(std::time::Instant::now()) {
        std::thread::park_timeout(left);
    }
}
