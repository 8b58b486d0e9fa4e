//! A write-ahead log that is kept: a copy of the file, made while writes and checkpoints go on, and of the log after it, is a
//! database with everything that was acknowledged; when nobody keeps the log any more, it is emptied again.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use madang_engine_sqlite::{DATABASE_FILE, Priority, Sqlite};
use rusqlite::Connection;
use support::{Plain, TestDb, broken};

const PATIENCE: Duration = Duration::from_secs(30);
const SOFT_BYTES: u64 = 64 << 10;
const HARD_BYTES: u64 = 256 << 10;

async fn small_log() -> TestDb {
    let test = TestDb::with(|options| (options.wal_soft_bytes, options.wal_hard_bytes) = (SOFT_BYTES, HARD_BYTES));
    let table = "CREATE TABLE mark (number INTEGER PRIMARY KEY, body BLOB)";
    test.db.write(Priority::Foreground, |tx| tx.execute_batch(table).map_err(broken)).await.unwrap();
    test
}

/// Writes rows, and writes over those that are there, so that every page changes.
async fn write(db: &Sqlite<Plain>, rows: i64) {
    for number in 0..rows {
        let insert = db.write(Priority::Foreground, move |tx| {
            tx.execute("INSERT INTO mark (body) VALUES (randomblob(3000))", []).map_err(broken)?;
            tx.execute("UPDATE mark SET body = randomblob(3000) WHERE number % 50 = ?1 % 50", [number])
                .map(drop)
                .map_err(broken)
        });
        insert.await.unwrap();
    }
}

fn bytes(path: &Path, from: u64, to: u64) -> Vec<u8> {
    let mut file = File::open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    let mut bytes = Vec::new();
    file.take(to - from).read_to_end(&mut bytes).unwrap();
    bytes
}

async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_copy_made_in_pieces_while_everything_changes_is_whole_with_the_log() {
    let test = small_log().await;
    write(&test.db, 200).await;
    let file = test.directory.path().join(DATABASE_FILE);
    let log = test.directory.path().join(format!("{DATABASE_FILE}-wal"));
    let kept = test.db.keep_wal().await.unwrap();
    let length = file.metadata().unwrap().len();
    assert!(length > SOFT_BYTES, "the first rows are in the file");

    // Before each piece of the file is read, so much is written that the log would have started anew several times.
    let mut copy = Vec::new();
    for piece in 0..4 {
        let before = bytes(&file, 0, length);
        write(&test.db, 100).await;
        eventually("a checkpoint writes into the file meanwhile", || bytes(&file, 0, length) != before).await;
        copy.extend(bytes(&file, length * piece / 4, length * (piece + 1) / 4));
    }
    assert!(log.metadata().unwrap().len() > 4 * HARD_BYTES, "the log keeps everything");
    let copied_log = bytes(&log, 0, u64::MAX);
    assert!(kept.is_whole());

    let copies = tempfile::tempdir().unwrap();
    std::fs::write(copies.path().join("copy.db"), copy).unwrap();
    std::fs::write(copies.path().join("copy.db-wal"), copied_log).unwrap();
    let copy = Connection::open(copies.path().join("copy.db")).unwrap();
    let state: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    let rows: i64 = copy.query_row("SELECT count(*) FROM mark", [], |row| row.get(0)).unwrap();
    assert_eq!((state.as_str(), rows), ("ok", 600));

    drop(kept);
    write(&test.db, 10).await;
    eventually("the log is emptied again", || log.metadata().unwrap().len() <= HARD_BYTES).await;
    test.db.close().await;
}

#[tokio::test]
async fn a_closed_database_says_that_it_kept_nothing() {
    let test = small_log().await;
    let (first, second) = (test.db.keep_wal().await.unwrap(), test.db.keep_wal().await.unwrap());
    drop(first);
    assert!(second.is_whole(), "one that ends takes nothing from another");
    test.db.close().await;
    assert!(!second.is_whole());
    assert!(test.db.keep_wal().await.is_err());
}

#[tokio::test]
async fn who_gives_up_while_asking_keeps_nothing() {
    let test = small_log().await;
    let log = test.directory.path().join(format!("{DATABASE_FILE}-wal"));
    drop(tokio::time::timeout(Duration::ZERO, test.db.keep_wal()).await);
    write(&test.db, 300).await;
    eventually("the log is emptied", || log.metadata().unwrap().len() <= HARD_BYTES).await;
    test.db.close().await;
}

#[tokio::test]
async fn a_write_that_asks_the_disk_reaches_it_and_leaves_nothing() {
    let test = small_log().await;
    let file = test.directory.path().join(DATABASE_FILE);
    let log = test.directory.path().join(format!("{DATABASE_FILE}-wal"));
    let frames = || bytes(&log, 0, u64::MAX);
    let before = frames();
    test.db.write_frame().await.unwrap();
    assert_ne!(frames(), before, "nothing was written");
    let leases = "SELECT count(*) FROM node_lease";
    let left: i64 = Connection::open(&file).unwrap().query_row(leases, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
