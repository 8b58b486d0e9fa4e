//! Answers to committed batches: each after the hook of its batch, in commit order, while the lane goes on.

use std::sync::Arc;

use madang_messaging::Message;
use tokio::sync::{mpsc, oneshot};

use super::{Decision, Fold};
use crate::hooks::{AfterCommit, wait_for};

/// Committed batches that may wait for their hooks before the lane waits with them.
pub(super) const UNANSWERED_BATCHES_MAX: usize = 8;

/// A batch that is done, with everybody who waits for its answer.
pub(super) struct Answers<F: Fold> {
    pub(super) decisions: Vec<Decision<F::Answer>>,
    pub(super) replies: Vec<oneshot::Sender<Decision<F::Answer>>>,
}

/// A batch whose answers wait for a hook.
pub(super) struct Unanswered<F: Fold> {
    pub(super) answers: Answers<F>,
    pub(super) messages: Vec<Message>,
    pub(super) hook: Arc<dyn AfterCommit>,
}

impl<F: Fold> Answers<F> {
    pub(super) fn send(self) {
        for (reply, decision) in self.replies.into_iter().zip(self.decisions) {
            // Who no longer waits has no use for the answer.
            let _ = reply.send(decision);
        }
    }
}

/// Runs the hooks of one lane, until it ends and all are answered.
pub(super) async fn answer<F: Fold>(mut batches: mpsc::Receiver<Unanswered<F>>) {
    while let Some(Unanswered { answers, messages, hook }) = batches.recv().await {
        wait_for(hook.as_ref(), &messages).await;
        answers.send();
    }
}
