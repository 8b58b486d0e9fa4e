//! What the batch under way has appended: collected while its calls run, told after its COMMIT, dropped with a lost one.
//!
//! Calls are closures over the connection and append wherever they please, so the collection belongs to the one thread
//! on which they all run. On any other thread nothing is collected.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use madang_event::Envelope;
use madang_messaging::Message;
use tracing::error;

use super::tail::Tail;
use crate::call::panic_text;

/// Hears the events of each committed batch, in commit order, before any caller in it is answered. It runs on the
/// writer's thread: whatever time it takes, everybody who writes waits for.
pub type CommitListener = Arc<dyn Fn(&[Envelope]) + Send + Sync>;

thread_local! {
    static UNDER_WAY: RefCell<Option<UnderWay>> = const { RefCell::new(None) };
}

struct UnderWay {
    appended: Appended,
    listener: Arc<OnceLock<CommitListener>>,
}

/// Entries of one transaction, in the order of their positions.
#[derive(Default)]
struct Appended {
    entries: Vec<(i64, Message)>,
    /// The events among them, while somebody listens, and where each stands.
    events: Vec<Envelope>,
    event_positions: Vec<i64>,
    /// Some group was marked as fallen behind.
    marked: bool,
}

impl Appended {
    /// Forgets what stands at `position` or after it.
    fn cut(&mut self, position: i64) {
        while self.entries.last().is_some_and(|(last, _)| *last >= position) {
            self.entries.pop();
        }
        while self.event_positions.last().is_some_and(|last| *last >= position) {
            self.event_positions.pop();
            self.events.pop();
        }
    }
}

/// Remembers an entry until its transaction ends.
pub(super) fn note(position: i64, message: Message, envelope: Option<Envelope>) {
    with(|under_way| {
        let UnderWay { appended, listener } = under_way;
        // A savepoint that was rolled back gives its positions back: what held this one before does not exist.
        appended.cut(position);
        appended.entries.push((position, message));
        if let Some(envelope) = envelope
            && listener.get().is_some()
        {
            appended.events.push(envelope);
            appended.event_positions.push(position);
        }
    });
}

/// Remembers that a group was marked as fallen behind, until the transaction ends.
pub(super) fn note_mark() {
    with(|under_way| under_way.appended.marked = true);
}

fn with(change: impl FnOnce(&mut UnderWay)) {
    UNDER_WAY.with_borrow_mut(|under_way| {
        if let Some(under_way) = under_way {
            change(under_way);
        }
    });
}

/// The writer's side: says how each transaction ended. When it goes, so does the tail.
pub(crate) struct Announcer {
    tail: Arc<Tail>,
    listener: Arc<OnceLock<CommitListener>>,
}

impl Announcer {
    pub(crate) fn new(tail: Arc<Tail>, listener: Arc<OnceLock<CommitListener>>) -> Self {
        Self { tail, listener }
    }

    /// From now on this thread collects what it appends.
    pub(crate) fn collect_here(&self) {
        let under_way = UnderWay { appended: Appended::default(), listener: Arc::clone(&self.listener) };
        UNDER_WAY.set(Some(under_way));
    }

    /// The transaction is committed, and `head` is the last position in it.
    pub(crate) fn committed(&self, head: i64) {
        let mut appended = Appended::default();
        with(|under_way| std::mem::swap(&mut under_way.appended, &mut appended));
        // What a failed call left at the very end has no successor that took its place.
        appended.cut(head.saturating_add(1));
        self.tell(&appended.events);
        self.tail.push(appended.entries, head);
        if appended.marked {
            self.tail.marked();
        }
    }

    /// The transaction is gone.
    pub(crate) fn lost(&self) {
        with(|under_way| under_way.appended = Appended::default());
    }

    fn tell(&self, events: &[Envelope]) {
        if events.is_empty() {
            return;
        }
        let Some(listener) = self.listener.get() else { return };
        // The changes are committed; a listener that fails must not take them or the writer along.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener(events))) {
            error!(events = events.len(), "whoever listens to commits {}", panic_text(&*panic));
        }
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        self.tail.close();
    }
}
