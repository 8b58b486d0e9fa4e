//! Readers: a read is one snapshot, sees what was acknowledged before it, and is refused at once when too many wait.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::mpsc;
use std::time::Duration;

use madang_engine_sqlite::Priority;
use madang_kernel::StoreError;
use support::{TestDb, broken};
use tokio::task::JoinSet;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

async fn counted(test: &TestDb) {
    let table = "CREATE TABLE pair (one INTEGER, two INTEGER); INSERT INTO pair VALUES (0, 0)";
    test.db.write(Priority::Foreground, |tx| tx.execute_batch(table).map_err(broken)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_sees_what_was_acknowledged() {
    let test = TestDb::fresh();
    counted(&test).await;
    for number in 1..=200_i64 {
        let bump = test.db.write(Priority::Foreground, move |tx| {
            tx.execute("UPDATE pair SET one = ?1, two = ?1", [number]).map_err(broken)
        });
        bump.await.unwrap();
        let read = test.db.read(|snapshot| {
            snapshot.query_row("SELECT one FROM pair", [], |row| row.get::<_, i64>(0)).map_err(broken)
        });
        assert_eq!(read.await.unwrap(), number);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_is_of_one_moment() {
    let test = TestDb::fresh();
    counted(&test).await;
    let (ready, started) = mpsc::channel();
    let (go_on, released) = mpsc::channel::<()>();
    let db = test.db.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let read = db.read(move |snapshot| {
            let look = |column: &str| {
                let sql = format!("SELECT {column} FROM pair");
                snapshot.query_row(&sql, [], |row| row.get::<_, i64>(0)).map_err(broken)
            };
            let one = look("one")?;
            ready.send(()).ok();
            let _ = released.recv_timeout(PATIENCE);
            Ok((one, look("two")?))
        });
        assert_eq!(read.await.unwrap(), (0, 0));
    });
    tokio::task::spawn_blocking(move || started.recv_timeout(PATIENCE)).await.unwrap().unwrap();
    let bump =
        test.db.write(Priority::Foreground, |tx| tx.execute("UPDATE pair SET one = 1, two = 1", []).map_err(broken));
    bump.await.unwrap();
    drop(go_on);
    timeout(PATIENCE, tasks.join_next()).await.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_of_reads_refuses_at_once() {
    let test = TestDb::with(|options| (options.readers, options.read_queue) = (1, 0));
    let refused = timeout(PATIENCE, test.db.read(|_| Ok(()))).await.unwrap();
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_survives_a_panic_and_cannot_write() {
    let test = TestDb::with(|options| options.readers = 1);
    counted(&test).await;
    let panicked = test.db.read(|_| -> Result<(), StoreError> { panic!("as the test wants") }).await;
    assert!(matches!(panicked, Err(StoreError::Broken { .. })));
    let written = test.db.read(|snapshot| snapshot.execute("DELETE FROM pair", []).map_err(broken)).await;
    assert!(matches!(written, Err(StoreError::Broken { .. })));
    test.db.read(|_| Ok(())).await.unwrap();
}
