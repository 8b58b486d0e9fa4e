//! The writer: one thread that folds the calls of many into one physical transaction, and answers after COMMIT.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{error, warn};

use crate::call::BoxedCall;
use crate::checkpointer::WalGauge;
use crate::commits::Commits;
use crate::metric;
use crate::pacing::BatchPacing;
use crate::tx::Tx;
use crate::write_queue::{Priority, WriteQueue};

/// A batch stops taking calls after this time, so that the first of them does not wait long for its answer.
const BATCH_MS: u64 = 5;
/// Background work in a batch of its own takes no longer than this, the last call of it aside.
const BACKGROUND_SLICE_MS: u64 = 5;
/// And in a batch of foreground calls, whose callers wait for its COMMIT, no longer than this.
const BACKGROUND_BESIDE_MS: u64 = 1;
/// Background work that has waited so long gets one call into a batch of foreground calls.
const BACKGROUND_PATIENCE_MS: u64 = 100;
/// Calls taken from the queue at once; the clock is read in between.
const TAKE_MAX: usize = 32;

/// What the writer thread owns.
pub(crate) struct Writer<E> {
    tx: Tx<E>,
    queue: Arc<WriteQueue<E>>,
    batch_max: usize,
    commits: Commits<E>,
    wal: Arc<WalGauge>,
    background_ran: Instant,
    pacing: BatchPacing,
}

impl<E> Writer<E> {
    pub(crate) fn new(
        tx: Tx<E>,
        queue: Arc<WriteQueue<E>>,
        batch_max: usize,
        commits: Commits<E>,
        wal: Arc<WalGauge>,
    ) -> Self {
        Self {
            tx,
            queue,
            batch_max: batch_max.max(1),
            commits,
            wal,
            background_ran: Instant::now(),
            pacing: BatchPacing::default(),
        }
    }

    /// Works until the queues are closed and empty, then leaves the write-ahead log empty.
    pub(crate) fn run(mut self) {
        let mut done = Vec::with_capacity(self.batch_max);
        while self.queue.wait() {
            self.batch(&mut done);
            self.wal.committed();
            if self.wal.is_past_hard_limit() {
                self.wal.restart(&self.tx);
            }
        }
        if let Err(error) = crate::checkpointer::truncate(&self.tx) {
            warn!("the last checkpoint failed, the next start will read the write-ahead log: {error}");
        }
    }

    fn batch(&mut self, done: &mut Vec<BoxedCall<Tx<E>>>) {
        let began = Instant::now();
        let lost = match self.tx.begin() {
            Ok(()) => {
                let whole = self.fill(done);
                if whole { self.commit() } else { Err("the transaction was rolled back".to_owned()) }
            }
            Err(error) => {
                self.take_for_refusal(done);
                Err(error.to_string())
            }
        };
        if let Err(reason) = &lost {
            error!(calls = done.len(), "a batch could not be committed, its callers are told to try again: {reason}");
            if let Err(error) = self.tx.roll_back() {
                error!("cannot roll back a batch that could not be committed: {error}");
            }
        }
        self.report(done.len(), began.elapsed());
        for call in done.drain(..) {
            call.answer(lost.as_ref().err().map(String::as_str));
        }
    }

    /// Runs calls until nobody waits or the batch is full; false when SQLite gave up the transaction under them.
    fn fill(&mut self, done: &mut Vec<BoxedCall<Tx<E>>>) -> bool {
        let started = Instant::now();
        let share = self.pacing.share().min(self.batch_max);
        let batch_max = self.pacing.batch_max().min(self.batch_max);
        let mut waited_in_vain = false;
        while done.len() < batch_max && started.elapsed() < Duration::from_millis(BATCH_MS) {
            let first = done.len();
            self.queue.take_foreground(TAKE_MAX.min(batch_max - first), done);
            if done.len() == first {
                if waited_in_vain || first == 0 || first >= share {
                    break;
                }
                self.queue.wait_for_more(share - first, self.pacing.window());
                waited_in_vain = true;
                continue;
            }
            waited_in_vain = false;
            for call in &mut done[first..] {
                if !run_alone(&self.tx, call) {
                    return false;
                }
            }
        }
        self.fill_background(done)
    }

    fn fill_background(&mut self, done: &mut Vec<BoxedCall<Tx<E>>>) -> bool {
        let started = Instant::now();
        let patient = self.background_ran.elapsed() < Duration::from_millis(BACKGROUND_PATIENCE_MS);
        if patient && self.queue.has_foreground() {
            return true;
        }
        let slice_ms = if done.is_empty() { BACKGROUND_SLICE_MS } else { BACKGROUND_BESIDE_MS };
        while started.elapsed() < Duration::from_millis(slice_ms) {
            let Some(mut call) = self.queue.take_background() else { break };
            let whole = run_alone(&self.tx, &mut call);
            done.push(call);
            if !whole {
                return false;
            }
            if done.len() >= self.batch_max || self.queue.has_foreground() {
                break;
            }
        }
        self.background_ran = Instant::now();
        true
    }

    fn commit(&mut self) -> Result<(), String> {
        let head = self.tx.head().map_err(|error| error.to_string())?;
        let started = Instant::now();
        let appended = self.tx.commit().map_err(|error| error.to_string())?;
        let took = started.elapsed();
        self.pacing.committed_in(took);
        metrics::histogram!(metric::COMMIT_SECONDS).record(took);
        self.commits.committed(appended, head);
        Ok(())
    }

    /// When no transaction can begin, those who wait are told so instead of waiting for ever.
    fn take_for_refusal(&self, done: &mut Vec<BoxedCall<Tx<E>>>) {
        self.queue.take_foreground(self.batch_max, done);
        if done.is_empty() {
            done.extend(self.queue.take_background());
        }
    }

    fn report(&mut self, calls: usize, took: Duration) {
        let (foreground, background) = self.queue.depths();
        self.pacing.saw(calls, foreground);
        metrics::histogram!(metric::BATCH_CALLS).record(calls as f64);
        metrics::histogram!(metric::BATCH_SECONDS).record(took);
        metrics::gauge!(metric::WRITE_QUEUE, "lane" => Priority::Foreground.label()).set(foreground as f64);
        metrics::gauge!(metric::WRITE_QUEUE, "lane" => Priority::Background.label()).set(background as f64);
    }
}

/// Runs a call in its own savepoint, so that it fails alone; false when the whole transaction is gone.
fn run_alone<E>(tx: &Tx<E>, call: &mut BoxedCall<Tx<E>>) -> bool {
    tx.savepoint(|| call.run(tx)).unwrap_or_else(|error| {
        error!("the savepoint of a call failed, its whole batch is rolled back: {error}");
        false
    })
}
