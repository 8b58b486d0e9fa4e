//! A database without a board, in a directory of its own that is removed with the test.

use std::sync::Arc;

use madang_engine_sqlite::{Sqlite, SqliteOptions};
use madang_kernel::{Clock, ManualClock, StoreError, Timestamp};
use madang_messaging::{Message, ToMessage};

/// The event of a program that has nothing but messages.
#[derive(Debug, Clone)]
pub(crate) struct Plain(pub(crate) Message);

impl ToMessage for Plain {
    fn to_message(&self) -> Message {
        self.0.clone()
    }
}

/// A fresh database, its clock and its directory.
#[allow(dead_code, reason = "each test file uses its part")]
pub(crate) struct TestDb {
    pub(crate) db: Sqlite<Plain>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) directory: tempfile::TempDir,
}

#[allow(dead_code, reason = "each test file uses its part")]
impl TestDb {
    /// With the default options.
    pub(crate) fn fresh() -> Self {
        Self::with(|_| {})
    }

    /// With other options.
    pub(crate) fn with(change: impl FnOnce(&mut SqliteOptions)) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut options = SqliteOptions::in_directory(directory.path());
        change(&mut options);
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let db = open(options, clock.clone());
        Self { db, clock, directory }
    }

    /// Opens the same file again, beside the first.
    pub(crate) fn reopen(&self) -> Sqlite<Plain> {
        open(SqliteOptions::in_directory(self.directory.path()), self.clock.clone())
    }
}

/// Opens a database that has the engine's own tables and no others.
pub(crate) fn open(options: SqliteOptions, clock: Arc<dyn Clock>) -> Sqlite<Plain> {
    Sqlite::open(options, &refinery::Runner::new(&[]), clock).expect("a database")
}

/// A statement of a test that must not fail.
#[allow(dead_code, reason = "each test file uses its part")]
pub(crate) fn broken(error: rusqlite::Error) -> StoreError {
    StoreError::broken("test", error)
}
