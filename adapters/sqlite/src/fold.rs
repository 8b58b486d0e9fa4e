//! Folding: calls of one kind that wait together become one call to the writer, which decides them in memory and writes
//! them with a few statements. Each caller still gets an answer of its own, after COMMIT.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_kernel::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::call::{Call, panic_text};
use crate::errors::{PART, sql_error};
use crate::{Lane, Sqlite, metric};

/// Decides calls in their order, with one answer each.
type Work<C, A> = Box<dyn Fn(&Connection, &[C]) -> Result<Vec<A>, StoreError> + Send + Sync>;

/// Calls of one kind on their way to the writer. Clones share them.
pub(crate) struct Fold<C, A> {
    shared: Arc<Shared<C, A>>,
}

impl<C, A> Clone for Fold<C, A> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<C, A> {
    pending: Mutex<Pending<C, A>>,
    batch_max: usize,
    pending_max: usize,
    work: Work<C, A>,
}

struct Pending<C, A> {
    waiting: Vec<Waiting<C, A>>,
    /// Calls in the writer's queue. Each takes a batch, so there are always enough of them for all who wait.
    queued: usize,
}

struct Waiting<C, A> {
    call: C,
    reply: oneshot::Sender<Result<A, StoreError>>,
}

impl<C: Send + 'static, A: Send + 'static> Fold<C, A> {
    /// Folds up to `batch_max` calls into one; at most `pending_max` wait.
    pub(crate) fn new(
        batch_max: usize,
        pending_max: usize,
        work: impl Fn(&Connection, &[C]) -> Result<Vec<A>, StoreError> + Send + Sync + 'static,
    ) -> Self {
        let pending = Mutex::new(Pending { waiting: Vec::new(), queued: 0 });
        let shared = Shared { pending, batch_max: batch_max.max(1), pending_max, work: Box::new(work) };
        Self { shared: Arc::new(shared) }
    }

    /// Has `call` decided together with whatever waits beside it; returns after COMMIT.
    pub(crate) async fn write(&self, db: &Sqlite, lane: Lane, call: C) -> Result<A, StoreError> {
        let reply = self.join(db, lane, call)?;
        reply.await.unwrap_or_else(|_| Err(StoreError::unavailable(PART, "the database was closed")))
    }

    fn join(&self, db: &Sqlite, lane: Lane, call: C) -> Result<oneshot::Receiver<Result<A, StoreError>>, StoreError> {
        let (reply, receiver) = oneshot::channel();
        let mut pending = self.shared.lock();
        if pending.waiting.len() >= self.shared.pending_max {
            metrics::counter!(metric::REFUSED, "queue" => "fold").increment(1);
            return Err(StoreError::unavailable(PART, "too many calls are waiting"));
        }
        pending.waiting.push(Waiting { call, reply });
        if pending.waiting.len() > pending.queued * self.shared.batch_max {
            // Under the lock: nobody may rely on a call to the writer that is then refused.
            let folded = Folded { shared: Arc::clone(&self.shared), taken: None };
            if let Err(refused) = db.queue(lane, Box::new(folded)) {
                pending.waiting.pop();
                return Err(refused);
            }
            pending.queued += 1;
        }
        Ok(receiver)
    }
}

impl<C, A> Shared<C, A> {
    fn lock(&self) -> MutexGuard<'_, Pending<C, A>> {
        // No code that could panic runs under the lock.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Waiting<C, A>> {
        let mut pending = self.lock();
        pending.queued = pending.queued.saturating_sub(1);
        let count = pending.waiting.len().min(self.batch_max);
        pending.waiting.drain(..count).collect()
    }
}

/// One call to the writer. What it stands for is decided only when it runs: whoever came meanwhile is in it.
struct Folded<C, A> {
    shared: Arc<Shared<C, A>>,
    taken: Option<Vec<Taken<A>>>,
}

struct Taken<A> {
    outcome: Result<A, StoreError>,
    reply: oneshot::Sender<Result<A, StoreError>>,
}

impl<C: Send, A: Send> Call for Folded<C, A> {
    fn run(&mut self, connection: &Connection) -> bool {
        let (calls, replies): (Vec<C>, Vec<_>) =
            self.shared.take().into_iter().map(|waiting| (waiting.call, waiting.reply)).unzip();
        let outcomes = self.decide(connection, &calls);
        let kept = outcomes.iter().any(Result::is_ok) || calls.is_empty();
        let taken = outcomes.into_iter().zip(replies).map(|(outcome, reply)| Taken { outcome, reply });
        self.taken = Some(taken.collect());
        kept
    }

    fn answer(self: Box<Self>, lost: Option<&str>) {
        let reason = lost.unwrap_or("the call was not run");
        let unavailable = || StoreError::unavailable(PART, reason);
        let taken = self.taken.unwrap_or_else(|| {
            // No transaction could begin: those whom the call stands for are told so.
            let waiting = self.shared.take().into_iter();
            waiting.map(|waiting| Taken { outcome: Err(unavailable()), reply: waiting.reply }).collect()
        });
        for Taken { outcome, reply } in taken {
            let outcome = if lost.is_some() { outcome.and_then(|_| Err(unavailable())) } else { outcome };
            // A caller that went away wants no answer.
            let _ = reply.send(outcome);
        }
    }
}

impl<C, A> Folded<C, A> {
    /// All together; one by one when a defect in one of them failed all.
    fn decide(&self, connection: &Connection, calls: &[C]) -> Vec<Result<A, StoreError>> {
        match self.attempt(connection, calls) {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(StoreError::Broken { .. }) if calls.len() > 1 => {
                calls.iter().map(|call| self.attempt_one(connection, call)).collect()
            }
            Err(StoreError::Broken { what, source }) => vec![Err(StoreError::Broken { what, source })],
            Err(StoreError::Unavailable { what, reason, .. }) => {
                calls.iter().map(|_| Err(StoreError::unavailable(what, reason.clone()))).collect()
            }
        }
    }

    fn attempt_one(&self, connection: &Connection, call: &C) -> Result<A, StoreError> {
        let answers = self.attempt(connection, std::slice::from_ref(call))?;
        answers.into_iter().next().ok_or_else(|| StoreError::broken(PART, "a call was not answered"))
    }

    /// Runs the work in a savepoint; what fails leaves nothing behind.
    fn attempt(&self, connection: &Connection, calls: &[C]) -> Result<Vec<A>, StoreError> {
        if connection.is_autocommit() {
            return Err(StoreError::unavailable(PART, "the transaction was rolled back"));
        }
        execute(connection, "SAVEPOINT folded")?;
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.shared.work)(connection, calls)))
            .unwrap_or_else(|panic| Err(StoreError::broken(PART, panic_text(&*panic))))
            .and_then(|answers| {
                let complete = answers.len() == calls.len();
                if complete { Ok(answers) } else { Err(StoreError::broken(PART, "a call was not answered")) }
            });
        if outcome.is_err() && !connection.is_autocommit() {
            execute(connection, "ROLLBACK TO folded")?;
        }
        if !connection.is_autocommit() {
            execute(connection, "RELEASE folded")?;
        }
        outcome
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(|_| ()).map_err(sql_error)
}
