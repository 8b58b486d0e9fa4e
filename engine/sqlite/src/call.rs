//! A caller's closure on its way to a database thread, and its outcome on the way back.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use madang_kernel::StoreError;
use tokio::sync::oneshot;

use crate::errors::PART;

/// Work for a database thread, within a transaction or a connection `W`. It runs first and is answered later, when its
/// transaction has ended.
pub(crate) trait Call<W>: Send {
    /// Runs the closure; false when it failed and its changes must be undone.
    fn run(&mut self, within: &W) -> bool;
    /// Answers the caller. `lost` says why the transaction around a call that succeeded did not commit.
    fn answer(self: Box<Self>, lost: Option<&str>);
}

/// A call as the queues hold it.
pub(crate) type BoxedCall<W> = Box<dyn Call<W>>;

/// Wraps a closure; the receiver gets its outcome.
pub(crate) fn boxed<W, T, F, R>(work: R) -> (BoxedCall<W>, oneshot::Receiver<Result<T, F>>)
where
    W: 'static,
    T: Send + 'static,
    F: From<StoreError> + Send + 'static,
    R: FnOnce(&W) -> Result<T, F> + Send + 'static,
{
    let (reply, receiver) = oneshot::channel();
    (Box::new(Pending { work: Some(work), outcome: None, reply }), receiver)
}

struct Pending<T, F, R> {
    work: Option<R>,
    outcome: Option<Result<T, F>>,
    reply: oneshot::Sender<Result<T, F>>,
}

impl<W, T, F, R> Call<W> for Pending<T, F, R>
where
    T: Send + 'static,
    F: From<StoreError> + Send + 'static,
    R: FnOnce(&W) -> Result<T, F> + Send + 'static,
{
    fn run(&mut self, within: &W) -> bool {
        let Some(work) = self.work.take() else { return false };
        // Whatever the closure left half done lives in the transaction only, and is rolled back there.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(within)));
        let outcome = outcome.unwrap_or_else(|panic| Err(StoreError::broken(PART, panic_text(&*panic)).into()));
        self.outcome.insert(outcome).is_ok()
    }

    fn answer(self: Box<Self>, lost: Option<&str>) {
        let outcome = match (self.outcome, lost) {
            (Some(Ok(_)) | None, Some(reason)) => Err(StoreError::unavailable(PART, reason).into()),
            (Some(outcome), _) => outcome,
            (None, None) => Err(StoreError::unavailable(PART, "the call was not run").into()),
        };
        // A caller that went away wants no answer.
        let _ = self.reply.send(outcome);
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a message"))
}
