//! Who is told of a committed batch, after its COMMIT and before its callers are answered.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use madang_messaging::Message;
use tokio::time::timeout;

/// Callers wait for a hook no longer than this, whatever bound it has of its own.
const AFTER_COMMIT_MAX_MS: u64 = 5_000;

/// What happens between a COMMIT and the answers to its callers, and takes its time: merging into a query model.
#[async_trait]
pub trait AfterCommit: Send + Sync {
    /// Is told of the messages of one batch. Batches of one lane come one after another in commit order, those of several
    /// lanes at once. What fails here is not the caller's concern: the messages come by the log too.
    async fn committed(&self, messages: &[Message]);
}

/// What must not wait, at once after COMMIT.
type OnCommit = Arc<dyn Fn(Vec<Message>) + Send + Sync>;

/// Shared with the lanes, which outlive no store but may start before a hook is set.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    on_commit: Arc<RwLock<Option<OnCommit>>>,
    after_commit: Arc<RwLock<Option<Arc<dyn AfterCommit>>>>,
}

impl Hooks {
    pub(crate) fn set_on_commit(&self, hook: OnCommit) {
        *self.on_commit.write().unwrap_or_else(PoisonError::into_inner) = Some(hook);
    }

    pub(crate) fn set_after_commit(&self, hook: Arc<dyn AfterCommit>) {
        *self.after_commit.write().unwrap_or_else(PoisonError::into_inner) = Some(hook);
    }

    /// Tells the hook that does not wait.
    pub(crate) fn committed(&self, messages: &[Message]) {
        let hook = self.on_commit.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(hook) = hook.filter(|_| !messages.is_empty()) {
            hook(messages.to_vec());
        }
    }

    /// The hook to wait for, where there is one and it has something to hear.
    pub(crate) fn to_wait_for(&self, messages: &[Message]) -> Option<Arc<dyn AfterCommit>> {
        if messages.is_empty() {
            return None;
        }
        self.after_commit.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Waits for a hook. Whatever it does, the batch is committed and its callers get their answers.
pub(crate) async fn wait_for(hook: &dyn AfterCommit, messages: &[Message]) {
    let told = AssertUnwindSafe(hook.committed(messages)).catch_unwind();
    match timeout(Duration::from_millis(AFTER_COMMIT_MAX_MS), told).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => tracing::error!(messages = messages.len(), "what follows a commit panicked"),
        Err(_) => tracing::warn!(messages = messages.len(), "what follows a commit took over {AFTER_COMMIT_MAX_MS} ms"),
    }
}
