//! Opening: durable settings, a clear refusal of what this version cannot read, and a write-ahead log that stays small.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::path::Path;
use std::time::Duration;

use madang_engine_sqlite::{DATABASE_FILE, OpenError, Priority, Sqlite, SqliteOptions};
use support::{Plain, TestDb, broken};
use tokio::time::Instant;

fn try_open(directory: &Path, test: &TestDb) -> Result<Sqlite<Plain>, OpenError> {
    Sqlite::open(SqliteOptions::in_directory(directory), &refinery::Runner::new(&[]), test.clock.clone())
}

#[tokio::test]
async fn commits_are_synced() {
    let test = TestDb::fresh();
    let settings = test.db.write(Priority::Foreground, |tx| {
        let number = |name| tx.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(broken);
        let mode: String = tx.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(broken)?;
        Ok((mode, number("synchronous")?, number("wal_autocheckpoint")?))
    });
    assert_eq!(settings.await.unwrap(), ("wal".to_owned(), 2, 0));
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let test = TestDb::fresh();
    test.db.close().await;
    let file = rusqlite::Connection::open(test.directory.path().join(DATABASE_FILE)).unwrap();
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
                 VALUES (999, 'later', '2031-01-01T00:00:00Z', '1')";
    file.execute(newer, []).unwrap();
    let refused = try_open(test.directory.path(), &test);
    let error = refused.err().unwrap();
    assert!(matches!(error, OpenError::Newer { found: 999, .. }), "{error}");
    assert!(error.to_string().contains("run that version"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let test = TestDb::fresh();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(DATABASE_FILE), "not a database, but long enough to be looked at".repeat(40))
        .unwrap();
    let refused = try_open(directory.path(), &test);
    assert!(matches!(refused.err().unwrap(), OpenError::Damaged { .. }));
    let missing = try_open(&directory.path().join("nowhere"), &test);
    assert!(matches!(missing.err().unwrap(), OpenError::Unusable { .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_write_ahead_log_stays_small_under_constant_writes() {
    const WRITTEN_BYTES: u64 = 96 << 20;
    const CALL_BYTES: u64 = 256 << 10;
    let test = TestDb::with(|options| {
        options.wal_soft_bytes = 1 << 20;
        options.wal_hard_bytes = 4 << 20;
    });
    let wal = test.directory.path().join(format!("{DATABASE_FILE}-wal"));
    let size = || std::fs::metadata(&wal).map_or(0, |file| file.len());
    let table = "CREATE TABLE page (number INTEGER PRIMARY KEY, body BLOB)";
    test.db.write(Priority::Foreground, |tx| tx.execute_batch(table).map_err(broken)).await.unwrap();
    let mut largest = 0;
    for number in 0..WRITTEN_BYTES / CALL_BYTES {
        let insert = test.db.write(Priority::Foreground, move |tx| {
            let row = rusqlite::params![(number % 8) as i64, CALL_BYTES as i64];
            tx.execute("INSERT OR REPLACE INTO page (number, body) VALUES (?1, randomblob(?2))", row).map_err(broken)
        });
        insert.await.unwrap();
        largest = largest.max(size());
    }
    assert!(largest < WRITTEN_BYTES / 2, "grew to {largest} bytes of {WRITTEN_BYTES} written");

    let deadline = Instant::now() + Duration::from_secs(20);
    while size() > 0 {
        assert!(Instant::now() < deadline, "still {} bytes long after the last write", size());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
