//! The two bounded queues before the writer: people, and background work that gives way to them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call::BoxedCall;

/// Who waits for a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Somebody waits for the answer.
    People,
    /// Offsets, retention, cleaning up: runs in small slices while nobody waits.
    Background,
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
pub(crate) struct Lanes {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    people_max: usize,
    background_max: usize,
}

#[derive(Default)]
struct Waiting {
    people: VecDeque<BoxedCall>,
    background: VecDeque<BoxedCall>,
    asleep: bool,
    /// People that a lingering writer hopes for; it is not woken for fewer.
    hoped_for: usize,
    closed: bool,
}

impl Lanes {
    pub(crate) fn new(people_max: usize, background_max: usize) -> Self {
        Self { waiting: Mutex::default(), wake: Condvar::new(), people_max, background_max }
    }

    /// Queues a call, or refuses it at once.
    pub(crate) fn push(&self, lane: Lane, call: BoxedCall) -> Result<(), Refused> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Refused::Closed);
        }
        let (queue, max) = match lane {
            Lane::People => (&mut waiting.people, self.people_max),
            Lane::Background => (&mut waiting.background, self.background_max),
        };
        if queue.len() >= max {
            return Err(Refused::Full);
        }
        queue.push_back(call);
        // A writer at work looks again by itself; only one that sleeps costs a system call.
        let wake = waiting.asleep && waiting.people.len() >= waiting.hoped_for;
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
            if !waiting.people.is_empty() || !waiting.background.is_empty() {
                return true;
            }
            if waiting.closed {
                return false;
            }
            waiting.asleep = true;
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sleeps until `count` people wait, but no longer than `limit`.
    pub(crate) fn linger(&self, count: usize, limit: Duration) {
        let mut waiting = self.lock();
        if waiting.people.len() >= count || waiting.closed {
            return;
        }
        waiting.asleep = true;
        waiting.hoped_for = count;
        let enough = |waiting: &mut Waiting| waiting.people.len() < waiting.hoped_for && !waiting.closed;
        let (mut waiting, _) =
            self.wake.wait_timeout_while(waiting, limit, enough).unwrap_or_else(PoisonError::into_inner);
        waiting.asleep = false;
        waiting.hoped_for = 0;
    }

    /// Moves up to `max` calls of people into `into`.
    pub(crate) fn take_people(&self, max: usize, into: &mut Vec<BoxedCall>) {
        let mut waiting = self.lock();
        let count = waiting.people.len().min(max);
        into.extend(waiting.people.drain(..count));
    }

    /// The next piece of background work.
    pub(crate) fn take_background(&self) -> Option<BoxedCall> {
        self.lock().background.pop_front()
    }

    /// Whether a person waits.
    pub(crate) fn people_wait(&self) -> bool {
        !self.lock().people.is_empty()
    }

    /// How many wait: people, background.
    pub(crate) fn depths(&self) -> (usize, usize) {
        let waiting = self.lock();
        (waiting.people.len(), waiting.background.len())
    }

    /// Takes nothing more; what waits is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code that could panic runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
