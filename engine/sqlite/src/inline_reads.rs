//! Reads on the caller's own thread: a row that is in memory is read sooner than a reader thread is woken. What does not
//! come quickly must not hold up the caller's thread again and again, so there is a bound on the time lost that way.

use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use madang_kernel::StoreError;
use rusqlite::Connection;

use crate::metric;

/// A read that took no longer read nothing from the disk.
const QUICK: Duration = Duration::from_micros(500);
/// Of the time of one thread, slow reads may take one part in so many.
const SLOW_SHARE: u32 = 10;
/// How much of that time may be taken in advance.
const OWED_MAX: Duration = Duration::from_millis(10);

/// A connection for whoever comes while nobody uses it: at most one thread at a time waits for the disk here.
pub(crate) struct InlineReads(Mutex<Option<Own>>);

struct Own {
    connection: Connection,
    debt: Debt,
}

/// The time that slow reads took and that has not passed by quietly since.
struct Debt {
    owed: Duration,
    as_of: Instant,
}

impl InlineReads {
    /// Reads through a connection that waits for no lock.
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Mutex::new(Some(Own { connection, debt: Debt { owed: Duration::ZERO, as_of: Instant::now() } })))
    }

    /// Ends the connection, so that the last of all is the writer's: only that one can put the log away.
    pub(crate) fn close(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Runs a read, if the connection is free and reads are quick at present. `None` when it is for the readers:
    /// also when it failed, because they may wait for what is locked or busy.
    pub(crate) fn try_read<T>(&self, call: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Option<T> {
        let mut own = match self.0.try_lock() {
            Ok(own) => own,
            // Whatever a read that panicked left behind, it only read.
            Err(TryLockError::Poisoned(own)) => own.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let Own { connection, debt } = own.as_mut()?;
        let begun = Instant::now();
        if !debt.is_bearable(begun) {
            return None;
        }
        let found = call(connection).ok();
        debt.add(begun.elapsed());
        drop(own);
        if found.is_some() {
            metrics::counter!(metric::READ_INLINE).increment(1);
        }
        found
    }
}

impl Debt {
    fn is_bearable(&mut self, now: Instant) -> bool {
        self.owed = self.owed.saturating_sub(now.saturating_duration_since(self.as_of) / SLOW_SHARE);
        self.as_of = now;
        self.owed < OWED_MAX
    }

    fn add(&mut self, took: Duration) {
        if took > QUICK {
            self.owed += took;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_reads_take_a_tenth_of_the_time_and_no_more() {
        let start = Instant::now();
        let mut debt = Debt { owed: Duration::ZERO, as_of: start };
        let took = Duration::from_millis(4);
        let (mut now, mut lost) = (start, Duration::ZERO);
        while now < start + Duration::from_secs(10) {
            if debt.is_bearable(now) {
                debt.add(took);
                lost += took;
                now += took;
            }
            now += Duration::from_micros(100);
        }
        assert!(lost <= Duration::from_millis(1_020), "{lost:?}");
        assert!(lost >= Duration::from_millis(900), "{lost:?}");
    }

    #[test]
    fn quick_reads_are_never_held_back() {
        let mut now = Instant::now();
        let mut debt = Debt { owed: Duration::ZERO, as_of: now };
        for _ in 0..100_000 {
            assert!(debt.is_bearable(now));
            debt.add(QUICK);
            now += QUICK;
        }
    }

    #[test]
    fn what_is_in_use_or_fails_is_left_to_the_readers() {
        let reads = InlineReads::new(Connection::open_in_memory().unwrap());
        let inner = reads.try_read(|_| Ok(reads.try_read(|_| Ok(1))));
        assert_eq!(inner, Some(None));
        assert_eq!(reads.try_read::<()>(|_| Err(StoreError::unavailable("store", "locked"))), None);
        assert_eq!(reads.try_read(|_| Ok(2)), Some(2));
        reads.close();
        assert_eq!(reads.try_read(|_| Ok(3)), None);
    }
}
