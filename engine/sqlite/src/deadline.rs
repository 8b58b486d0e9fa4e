//! An end to statements that take too long: SQLite asks every so often whether it should go on.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Instructions between two looks at the clock: some tens of microseconds.
const STEPS: i32 = 4_000;

thread_local! {
    /// When what runs on this thread must end. A connection is used by one thread, which asks it itself.
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Has a connection end its statements when the time of the thread it runs on is over.
pub(crate) fn watch(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(|| END.get().is_some_and(|end| Instant::now() >= end)))
}

/// Until this is dropped, statements of watched connections on this thread may take so long, all together.
pub(crate) struct Deadline(());

impl Deadline {
    /// Begins now.
    pub(crate) fn after(limit: Duration) -> Self {
        END.set(Some(Instant::now() + limit));
        Self(())
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        END.set(None);
    }
}
