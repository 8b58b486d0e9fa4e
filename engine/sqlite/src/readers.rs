//! The readers: a few threads with read-only connections that share one bounded queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tracing::error;

use crate::call::BoxedCall;
use crate::metric;
use crate::write_queue::Refused;

/// Calls that one reader takes at once and answers from one snapshot.
const TAKE_MAX: usize = 16;

/// A second reader is woken when so many calls wait, or when the one at work took its last calls so long ago: a wake-up
/// costs more than a read, and readers that take turns for single calls spend their time on it.
const BACKLOG: usize = 32;
const STUCK_AFTER: Duration = Duration::from_micros(300);

/// The queue before the readers.
pub(crate) struct ReadQueue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    max: usize,
    readers: usize,
    /// Calls that one reader takes at once.
    take_max: usize,
}

#[derive(Default)]
struct Waiting {
    calls: VecDeque<BoxedCall<Connection>>,
    asleep: usize,
    taken_at: Option<Instant>,
    closed: bool,
}

impl Waiting {
    fn needs_another(&self) -> bool {
        self.calls.len() >= BACKLOG || self.taken_at.is_some_and(|taken_at| taken_at.elapsed() > STUCK_AFTER)
    }
}

impl ReadQueue {
    pub(crate) fn new(max: usize, readers: usize) -> Self {
        Self { waiting: Mutex::default(), wake: Condvar::new(), max, readers: readers.max(1), take_max: TAKE_MAX }
    }

    /// The same for calls that each may take long: a reader takes one at a time, and another is woken for the next.
    pub(crate) fn one_by_one(max: usize, readers: usize) -> Self {
        Self { take_max: 1, ..Self::new(max, readers) }
    }

    /// Queues a call, or refuses it at once.
    pub(crate) fn push(&self, call: BoxedCall<Connection>) -> Result<(), Refused> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Refused::Closed);
        }
        if waiting.calls.len() >= self.max {
            return Err(Refused::Full);
        }
        waiting.calls.push_back(call);
        let wake =
            waiting.asleep == self.readers || (waiting.asleep > 0 && (self.take_max == 1 || waiting.needs_another()));
        drop(waiting);
        if wake {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Takes nothing more; what waits is still answered.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    /// Moves a fair share of what waits into `taken`, sleeping until there is something; false at the end.
    fn take(&self, taken: &mut Vec<BoxedCall<Connection>>) -> bool {
        let mut waiting = self.lock();
        loop {
            if !waiting.calls.is_empty() {
                let share = waiting.calls.len().div_ceil(self.readers).min(self.take_max);
                taken.extend(waiting.calls.drain(..share));
                waiting.taken_at = Some(Instant::now());
                metrics::gauge!(metric::READ_QUEUE).set(waiting.calls.len() as f64);
                return true;
            }
            if waiting.closed {
                return false;
            }
            waiting.asleep += 1;
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.asleep -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code that could panic runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One reader thread.
///
/// The calls it takes together share a read transaction: locks are taken once for all of them, and whatever one call
/// reads is of one moment. The snapshot is younger than every call in it, so a caller sees its own committed writes.
#[expect(clippy::needless_pass_by_value, reason = "the thread owns its connection and its share of the queue")]
pub(crate) fn run(connection: Connection, queue: Arc<ReadQueue>) {
    let mut taken = Vec::with_capacity(TAKE_MAX);
    while queue.take(&mut taken) {
        let begun = execute(&connection, "BEGIN");
        for call in &mut taken {
            call.run(&connection);
        }
        if let Err(error) = begun.and_then(|()| execute(&connection, "COMMIT")) {
            error!("cannot end a read transaction, the next read begins a new one: {error}");
            let _ = connection.execute_batch("ROLLBACK");
        }
        for call in taken.drain(..) {
            call.answer(None);
        }
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}
