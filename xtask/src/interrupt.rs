//! Ctrl-C and its relatives as a value that waits can be ended by, so that a task cleans up behind itself.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Whether somebody asked this task to end; clones share the answer.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    raised: Mutex<bool>,
    changed: Condvar,
}

/// The error of a wait that somebody ended.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

impl Interrupt {
    /// Takes SIGINT, SIGTERM and SIGHUP over from their default, which would end the process on the spot.
    pub(crate) fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("could not listen for Ctrl-C")?;
        let raised = interrupt.clone();
        let listener = std::thread::Builder::new().name("signals".into());
        listener.spawn(move || {
            for _ in signals.forever() {
                raised.raise();
                // The terminal may be what went away.
                let _ = writeln!(std::io::stderr(), "\ninterrupted: ending what was started");
            }
        })?;
        Ok(interrupt)
    }

    /// Ends every wait, now and later.
    pub(crate) fn raise(&self) {
        *self.shared.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.changed.notify_all();
    }

    /// Waits for the whole time, or less when interrupted.
    pub(crate) fn pause(&self, time: Duration) -> Result<(), Interrupted> {
        let until = Instant::now() + time;
        let mut raised = self.shared.raised.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if *raised {
                return Err(Interrupted);
            }
            if left.is_zero() {
                return Ok(());
            }
            raised = self.shared.changed.wait_timeout(raised, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Fails once interrupted.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        self.pause(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_interrupted_and_every_later_one_at_once() {
        let interrupt = Interrupt::default();
        interrupt.check().unwrap();
        interrupt.pause(Duration::from_millis(1)).unwrap();

        let other = interrupt.clone();
        let waiter = std::thread::spawn(move || other.pause(Duration::from_secs(600)));
        interrupt.raise();
        assert!(waiter.join().unwrap().is_err());
        assert!(interrupt.pause(Duration::from_secs(600)).is_err());
        assert!(interrupt.check().is_err());
    }
}
