//! Folding: calls of one kind that wait together become one call to the writer, which decides them in memory and writes
//! them with a few statements. Each caller still gets an answer of its own, after COMMIT.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_kernel::StoreError;
use madang_messaging::ToMessage;
use tokio::sync::oneshot;

use crate::call::{Call, panic_text};
use crate::errors::{PART, sql_error};
use crate::{Priority, Sqlite, Tx, metric};

/// Decides calls in their order, with one answer each.
type Work<E, C, A> = Box<dyn Fn(&Tx<E>, &[C]) -> Result<Vec<A>, StoreError> + Send + Sync>;

/// Calls `C` of one kind on their way to the writer, each with an answer `A`. Clones share them.
pub struct Fold<E, C, A> {
    shared: Arc<Shared<E, C, A>>,
}

impl<E, C, A> Clone for Fold<E, C, A> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<E, C, A> {
    pending: Mutex<Pending<C, A>>,
    batch_max: usize,
    pending_max: usize,
    work: Work<E, C, A>,
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

impl<E: ToMessage, C: Send + 'static, A: Send + 'static> Fold<E, C, A> {
    /// Folds up to `batch_max` calls into one; at most `pending_max` wait. `work` decides them in their order and gives
    /// one answer each. When it fails by a defect, it runs again call by call, so that the others do not fail along.
    pub fn new(
        batch_max: usize,
        pending_max: usize,
        work: impl Fn(&Tx<E>, &[C]) -> Result<Vec<A>, StoreError> + Send + Sync + 'static,
    ) -> Self {
        let pending = Mutex::new(Pending { waiting: Vec::new(), queued: 0 });
        let shared = Shared { pending, batch_max: batch_max.max(1), pending_max, work: Box::new(work) };
        Self { shared: Arc::new(shared) }
    }

    /// Has `call` decided together with whatever waits beside it; returns after COMMIT.
    pub async fn write(&self, db: &Sqlite<E>, priority: Priority, call: C) -> Result<A, StoreError> {
        let reply = self.join(db, priority, call)?;
        reply.await.unwrap_or_else(|_| Err(StoreError::unavailable(PART, "the database was closed")))
    }

    fn join(
        &self,
        db: &Sqlite<E>,
        priority: Priority,
        call: C,
    ) -> Result<oneshot::Receiver<Result<A, StoreError>>, StoreError> {
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
            if let Err(refused) = db.queue(priority, Box::new(folded)) {
                pending.waiting.pop();
                return Err(refused);
            }
            pending.queued += 1;
        }
        Ok(receiver)
    }
}

impl<E, C, A> Shared<E, C, A> {
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
struct Folded<E, C, A> {
    shared: Arc<Shared<E, C, A>>,
    taken: Option<Vec<Taken<A>>>,
}

struct Taken<A> {
    outcome: Result<A, StoreError>,
    reply: oneshot::Sender<Result<A, StoreError>>,
}

impl<E, C: Send, A: Send> Call<Tx<E>> for Folded<E, C, A> {
    fn run(&mut self, tx: &Tx<E>) -> bool {
        let (calls, replies): (Vec<C>, Vec<_>) =
            self.shared.take().into_iter().map(|waiting| (waiting.call, waiting.reply)).unzip();
        let outcomes = self.decide(tx, &calls);
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

impl<E, C, A> Folded<E, C, A> {
    /// All together; one by one when a defect in one of them failed all.
    fn decide(&self, tx: &Tx<E>, calls: &[C]) -> Vec<Result<A, StoreError>> {
        match self.attempt(tx, calls) {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(StoreError::Broken { .. }) if calls.len() > 1 => {
                calls.iter().map(|call| self.attempt_one(tx, call)).collect()
            }
            Err(StoreError::Broken { what, source }) => vec![Err(StoreError::Broken { what, source })],
            Err(StoreError::Unavailable { what, reason, .. }) => {
                calls.iter().map(|_| Err(StoreError::unavailable(what, reason.clone()))).collect()
            }
        }
    }

    fn attempt_one(&self, tx: &Tx<E>, call: &C) -> Result<A, StoreError> {
        let answers = self.attempt(tx, std::slice::from_ref(call))?;
        answers.into_iter().next().ok_or_else(|| StoreError::broken(PART, "a call was not answered"))
    }

    /// Runs the work in a savepoint; what fails leaves nothing behind.
    fn attempt(&self, tx: &Tx<E>, calls: &[C]) -> Result<Vec<A>, StoreError> {
        let mut outcome = Err(StoreError::unavailable(PART, "the transaction was rolled back"));
        if tx.is_autocommit() {
            return outcome;
        }
        let work = || {
            outcome = catch_unwind(AssertUnwindSafe(|| (self.shared.work)(tx, calls)))
                .unwrap_or_else(|panic| Err(StoreError::broken(PART, panic_text(&*panic))))
                .and_then(|answers| {
                    let complete = answers.len() == calls.len();
                    if complete { Ok(answers) } else { Err(StoreError::broken(PART, "a call was not answered")) }
                });
            outcome.is_ok()
        };
        tx.savepoint(work).map_err(sql_error)?;
        outcome
    }
}
