//! A database in a directory of its own, removed with the test.

use std::sync::Arc;

use madang_kernel::{ManualClock, StoreError, Timestamp};
use madang_sqlite::{Sqlite, SqliteOptions};

/// A fresh database, its clock and its directory.
pub(crate) struct TestDb {
    pub(crate) db: Sqlite,
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
        let db = madang_sqlite::open(options, clock.clone()).expect("a fresh database");
        Self { db, clock, directory }
    }

    /// Opens the same file again, beside the first.
    pub(crate) fn reopen(&self) -> Sqlite {
        madang_sqlite::open(SqliteOptions::in_directory(self.directory.path()), self.clock.clone())
            .expect("the same database")
    }
}

/// A statement of a test that must not fail.
#[allow(dead_code, reason = "each test file uses its part")]
pub(crate) fn broken(error: rusqlite::Error) -> StoreError {
    StoreError::broken("test", error)
}
