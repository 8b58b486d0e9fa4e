//! What follows a COMMIT, before anybody is answered: events go to whoever follows commits in this process, entries to the
//! end of the log in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use madang_messaging::AfterCommit;
use tracing::error;

use crate::call::panic_text;
use crate::log::Tail;
use crate::tx::Appended;

/// Whoever follows the commits of a database; nobody until the program says so.
pub(crate) type Follower<E> = Arc<OnceLock<Arc<dyn AfterCommit<E>>>>;

/// The writer's side of it. When it goes, the tail closes.
pub(crate) struct Commits<E> {
    tail: Arc<Tail>,
    follower: Follower<E>,
}

impl<E> Commits<E> {
    pub(crate) fn new(tail: Arc<Tail>, follower: Follower<E>) -> Self {
        Self { tail, follower }
    }

    /// A transaction is committed, and `head` is the last position in the log with it.
    pub(crate) fn committed(&self, appended: Appended<E>, head: i64) {
        self.tell(&appended.events);
        self.tail.push(appended.entries, head);
        if appended.marked_group {
            self.tail.marked();
        }
    }

    fn tell(&self, events: &[E]) {
        if events.is_empty() {
            return;
        }
        let Some(follower) = self.follower.get() else { return };
        // The changes are committed; a follower that fails must not take them or the writer along.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| follower.committed(events))) {
            let count = events.len();
            error!("{count} committed events are missing in what follows commits, which {}", panic_text(&*panic));
        }
    }
}

impl<E> Drop for Commits<E> {
    fn drop(&mut self) {
        self.tail.close();
    }
}
