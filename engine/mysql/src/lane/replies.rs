//! Replies to committed batches: each after the follower of its events, in commit order, while the lane goes on.

use std::sync::Arc;

use madang_messaging::AfterCommit;
use tokio::sync::{mpsc, oneshot};

use super::{Decision, Fold};
use crate::followers::before_answers;

/// Committed batches that may wait for a follower before the lane waits with them.
pub(super) const UNANSWERED_BATCHES_MAX: usize = 8;

/// What a caller gets back from a lane.
pub(super) enum Reply<F: Fold> {
    /// What became of the call.
    Decided(Decision<F::Answer>),
    /// The call itself, undecided: the server of this lane takes no writes for its shard.
    NotHere(F::Call),
}

/// The decisions of a batch, with everybody who waits for them.
pub(super) struct BatchReplies<F: Fold> {
    pub(super) decisions: Vec<Decision<F::Answer>>,
    pub(super) callers: Vec<oneshot::Sender<Reply<F>>>,
}

/// A committed batch whose callers wait for a follower.
pub(super) struct FollowedBatch<F: Fold> {
    pub(super) replies: BatchReplies<F>,
    pub(super) events: Vec<F::Event>,
    pub(super) follower: Arc<dyn AfterCommit<F::Event>>,
}

impl<F: Fold> BatchReplies<F> {
    pub(super) fn send(self) {
        for (caller, decision) in self.callers.into_iter().zip(self.decisions) {
            // Who no longer waits has no use for the reply.
            let _ = caller.send(Reply::Decided(decision));
        }
    }
}

/// Replies to the batches of one lane, until it ends and all are answered.
pub(super) async fn reply<F: Fold>(mut batches: mpsc::Receiver<FollowedBatch<F>>) {
    while let Some(FollowedBatch { replies, events, follower }) = batches.recv().await {
        before_answers(follower.as_ref(), &events).await;
        replies.send();
    }
}
