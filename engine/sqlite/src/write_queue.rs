//! The two bounded queues before the writer: foreground calls, and background work that gives way to them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call::BoxedCall;
use crate::tx::Tx;

/// Which writes go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Somebody waits for the answer.
    Foreground,
    /// Offsets, retention, cleaning up: runs in small slices while no foreground call waits.
    Background,
}

impl Priority {
    /// As figures name it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Foreground => "foreground",
            Self::Background => "background",
        }
    }
}

/// Why a call was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// As many calls wait as may.
    Full,
    /// The database is being closed.
    Closed,
}

/// The queues, shared by the callers and the writer.
pub(crate) struct WriteQueue<E> {
    waiting: Mutex<Waiting<E>>,
    wake: Condvar,
    foreground_max: usize,
    background_max: usize,
}

struct Waiting<E> {
    foreground: VecDeque<BoxedCall<Tx<E>>>,
    background: VecDeque<BoxedCall<Tx<E>>>,
    asleep: bool,
    /// Foreground calls that a writer waits for within its batch window; it is not woken for fewer.
    wake_at: usize,
    closed: bool,
}

impl<E> WriteQueue<E> {
    pub(crate) fn new(foreground_max: usize, background_max: usize) -> Self {
        let (foreground, background) = (VecDeque::new(), VecDeque::new());
        let waiting = Waiting { foreground, background, asleep: false, wake_at: 0, closed: false };
        Self { waiting: Mutex::new(waiting), wake: Condvar::new(), foreground_max, background_max }
    }

    /// Queues a call, or refuses it at once.
    pub(crate) fn push(&self, priority: Priority, call: BoxedCall<Tx<E>>) -> Result<(), Refused> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Refused::Closed);
        }
        let (queue, max) = match priority {
            Priority::Foreground => (&mut waiting.foreground, self.foreground_max),
            Priority::Background => (&mut waiting.background, self.background_max),
        };
        if queue.len() >= max {
            return Err(Refused::Full);
        }
        queue.push_back(call);
        // A writer at work looks again by itself; only one that sleeps costs a system call.
        let wake = waiting.asleep && waiting.foreground.len() >= waiting.wake_at;
        if wake {
            waiting.asleep = false;
        }
        drop(waiting);
        if wake {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Sleeps until something waits; false when the queues are closed and empty.
    pub(crate) fn wait(&self) -> bool {
        let mut waiting = self.lock();
        loop {
            if !waiting.foreground.is_empty() || !waiting.background.is_empty() {
                return true;
            }
            if waiting.closed {
                return false;
            }
            waiting.asleep = true;
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sleeps until `count` foreground calls wait, but no longer than `window`.
    pub(crate) fn wait_for_more(&self, count: usize, window: Duration) {
        let mut waiting = self.lock();
        if waiting.foreground.len() >= count || waiting.closed {
            return;
        }
        waiting.asleep = true;
        waiting.wake_at = count;
        let too_few = |waiting: &mut Waiting<E>| waiting.foreground.len() < waiting.wake_at && !waiting.closed;
        let (mut waiting, _) =
            self.wake.wait_timeout_while(waiting, window, too_few).unwrap_or_else(PoisonError::into_inner);
        waiting.asleep = false;
        waiting.wake_at = 0;
    }

    /// Moves up to `max` foreground calls into `into`.
    pub(crate) fn take_foreground(&self, max: usize, into: &mut Vec<BoxedCall<Tx<E>>>) {
        let mut waiting = self.lock();
        let count = waiting.foreground.len().min(max);
        into.extend(waiting.foreground.drain(..count));
    }

    /// The next piece of background work.
    pub(crate) fn take_background(&self) -> Option<BoxedCall<Tx<E>>> {
        self.lock().background.pop_front()
    }

    /// Whether a foreground call waits.
    pub(crate) fn has_foreground(&self) -> bool {
        !self.lock().foreground.is_empty()
    }

    /// How many wait: foreground, background.
    pub(crate) fn depths(&self) -> (usize, usize) {
        let waiting = self.lock();
        (waiting.foreground.len(), waiting.background.len())
    }

    /// Takes nothing more; what waits is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<E>> {
        // No code that could panic runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
