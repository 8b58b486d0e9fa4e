//! Who learns of a committed batch: the relay of the database first, which never waits, then whoever follows commits in this
//! process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt;
use madang_messaging::{AfterCommit, HandOver, Message};
use tokio::time::timeout;

/// Callers wait for a follower no longer than this, whatever bound it has of its own.
const BEFORE_ANSWERS_MAX_MS: u64 = 5_000;

/// Shared with the lanes, which may start before anybody follows.
pub(crate) struct Followers<E> {
    set: Arc<RwLock<Set<E>>>,
}

struct Set<E> {
    relay: Option<HandOver>,
    follower: Option<Arc<dyn AfterCommit<E>>>,
}

impl<E> Clone for Followers<E> {
    fn clone(&self) -> Self {
        Self { set: Arc::clone(&self.set) }
    }
}

impl<E> Default for Followers<E> {
    fn default() -> Self {
        Self { set: Arc::new(RwLock::new(Set { relay: None, follower: None })) }
    }
}

impl<E> Followers<E> {
    pub(crate) fn set_relay(&self, relay: HandOver) {
        self.set.write().unwrap_or_else(PoisonError::into_inner).relay = Some(relay);
    }

    pub(crate) fn set_follower(&self, follower: Arc<dyn AfterCommit<E>>) {
        self.set.write().unwrap_or_else(PoisonError::into_inner).follower = Some(follower);
    }

    /// Hands what was committed to the relay, then tells the follower; waits for neither.
    pub(crate) fn committed(&self, events: &[E], messages: Vec<Message>) {
        if events.is_empty() {
            return;
        }
        if let Some(relay) = &self.set.read().unwrap_or_else(PoisonError::into_inner).relay {
            relay.hand_over(messages);
        }
        let Some(follower) = self.follower(events) else { return };
        // The batch is committed, whatever its follower does.
        if catch_unwind(AssertUnwindSafe(|| follower.committed(events))).is_err() {
            tracing::error!(
                events = events.len(),
                "after a commit: a follower panicked; it gets these events from the log instead"
            );
        }
    }

    /// Whom the callers of a batch wait for, where it has events.
    pub(crate) fn follower(&self, events: &[E]) -> Option<Arc<dyn AfterCommit<E>>> {
        if events.is_empty() {
            return None;
        }
        self.set.read().unwrap_or_else(PoisonError::into_inner).follower.clone()
    }
}

/// Waits for a follower. Whatever it does, the batch is committed and its callers get their answers.
pub(crate) async fn before_answers<E>(follower: &dyn AfterCommit<E>, events: &[E]) {
    let followed = AssertUnwindSafe(follower.before_answers(events)).catch_unwind();
    match timeout(Duration::from_millis(BEFORE_ANSWERS_MAX_MS), followed).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => {
            tracing::error!(
                events = events.len(),
                "after a commit: a follower panicked; it gets these events from the log instead"
            );
        }
        Err(_) => tracing::warn!(
            events = events.len(),
            "after a commit: a follower took longer than {BEFORE_ANSWERS_MAX_MS} ms, answering the callers without it"
        ),
    }
}
