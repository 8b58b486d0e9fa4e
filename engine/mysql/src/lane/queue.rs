//! Calls that wait for their lane: bounded, in order, and woken without a wake-up being lost.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use madang_kernel::StoreError;
use madang_messaging::Stop;
use tokio::sync::{Notify, oneshot};

use super::Fold;
use super::replies::Reply;
use crate::databases::closing;
use crate::errors::PART;
use crate::metric;

/// A call in its lane, and whoever waits for its answer.
pub(super) struct QueuedCall<F: Fold> {
    pub(super) call: F::Call,
    pub(super) caller: oneshot::Sender<Reply<F>>,
}

/// The calls of one lane that no batch has taken yet.
pub(super) struct Queue<F: Fold> {
    pending: Mutex<Pending<F>>,
    limit: usize,
    wake: Notify,
}

struct Pending<F: Fold> {
    calls: VecDeque<QueuedCall<F>>,
    open: bool,
    /// Why calls are refused for now.
    refusing: Option<&'static str>,
}

/// Lets a lane take calls again when it is dropped.
pub(super) struct Refusing<'a, F: Fold>(&'a Queue<F>);

impl<F: Fold> Drop for Refusing<'_, F> {
    fn drop(&mut self) {
        self.0.lock().refusing = None;
    }
}

impl<F: Fold> Queue<F> {
    pub(super) fn new(limit: usize) -> Self {
        let pending = Pending { calls: VecDeque::new(), open: true, refusing: None };
        Self { pending: Mutex::new(pending), limit, wake: Notify::new() }
    }

    /// Waits in line for an answer. Who stops waiting does not take the call back.
    pub(super) async fn call(&self, call: F::Call) -> Reply<F> {
        let (caller, answer) = oneshot::channel();
        {
            let mut pending = self.lock();
            if !pending.open {
                return Reply::Decided(Err(closing()));
            }
            if let Some(reason) = pending.refusing {
                return Reply::Decided(Err(StoreError::unavailable(PART, reason)));
            }
            if pending.calls.len() >= self.limit {
                metrics::counter!(metric::REFUSED).increment(1);
                return Reply::Decided(Err(StoreError::unavailable(PART, "too many calls wait for it")));
            }
            pending.calls.push_back(QueuedCall { call, caller });
        }
        self.wake.notify_one();
        let failed = || Reply::Decided(Err(StoreError::broken(PART, "the lane failed before it could answer")));
        answer.await.unwrap_or_else(|_| failed())
    }

    /// The calls that wait, at most `limit`, as soon as there is one; `None` once the store closes and none is left.
    pub(super) async fn next(&self, limit: usize, stop: &Stop) -> Option<Vec<QueuedCall<F>>> {
        loop {
            {
                let mut pending = self.lock();
                if !pending.calls.is_empty() {
                    let count = pending.calls.len().min(limit);
                    return Some(pending.calls.drain(..count).collect());
                }
                if stop.is_cancelled() {
                    pending.open = false;
                    return None;
                }
            }
            // A call that was queued after the check above has left its permit here.
            tokio::select! {
                () = self.wake.notified() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Refuses those that no batch has taken, and whoever comes, until what this returns is dropped.
    pub(super) fn refuse(&self, reason: &'static str) -> Refusing<'_, F> {
        let left = {
            let mut pending = self.lock();
            pending.refusing = Some(reason);
            std::mem::take(&mut pending.calls)
        };
        for queued in left {
            let _ = queued.caller.send(Reply::Decided(Err(StoreError::unavailable(PART, reason))));
        }
        Refusing(self)
    }

    /// Takes no more calls, and refuses those that no batch has taken.
    pub(super) fn close(&self) {
        let left = {
            let mut pending = self.lock();
            pending.open = false;
            std::mem::take(&mut pending.calls)
        };
        for queued in left {
            let _ = queued.caller.send(Reply::Decided(Err(closing())));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending<F>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
