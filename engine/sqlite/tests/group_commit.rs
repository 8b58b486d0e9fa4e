//! Group commit: calls share a transaction and still fail alone, wait in order, and are answered after COMMIT.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use madang_engine_sqlite::{DATABASE_FILE, Priority, Sqlite, Tx};
use madang_kernel::StoreError;
use support::{Plain, TestDb, broken};
use tokio::task::JoinSet;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

async fn with_table(test: TestDb) -> TestDb {
    let table = "CREATE TABLE mark (number INTEGER PRIMARY KEY, body BLOB)";
    test.db.write(Priority::Foreground, |tx| tx.execute_batch(table).map_err(broken)).await.unwrap();
    test
}

async fn mark(db: &Sqlite<Plain>, number: i64) -> Result<(), StoreError> {
    let insert = db.write(Priority::Foreground, move |tx| {
        tx.execute("INSERT INTO mark (number) VALUES (?1)", [number]).map(|_| ()).map_err(broken)
    });
    insert.await
}

async fn marks(db: &Sqlite<Plain>) -> Vec<i64> {
    let read = db.read(|snapshot| {
        let mut all = snapshot.prepare("SELECT number FROM mark ORDER BY number").map_err(broken)?;
        let numbers = all.query_map([], |row| row.get(0)).map_err(broken)?;
        numbers.collect::<Result<_, _>>().map_err(broken)
    });
    read.await.unwrap()
}

/// Keeps the writer busy until the sender is dropped; returns once it is.
async fn hold_writer(db: &Sqlite<Plain>, tasks: &mut JoinSet<()>) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel();
    let (busy, started) = tokio::sync::oneshot::channel();
    let db = db.clone();
    tasks.spawn(async move {
        let hold = db.write(Priority::Foreground, move |_| {
            let _ = busy.send(());
            let _ = held.recv_timeout(PATIENCE);
            Ok(())
        });
        hold.await.unwrap();
    });
    started.await.unwrap();
    release
}

async fn finish(mut tasks: JoinSet<()>) {
    while let Some(done) = timeout(PATIENCE, tasks.join_next()).await.expect("every call is answered") {
        done.unwrap();
    }
}

/// Waits until `count` calls have been handed to the writer's queue.
async fn queued(handed_in: &mut tokio::sync::mpsc::UnboundedReceiver<()>, count: usize) {
    for _ in 0..count {
        timeout(PATIENCE, handed_in.recv()).await.unwrap().unwrap();
    }
}

/// Runs a write whose hand-over is told: the first poll of the future queues the call.
async fn told<T>(write: impl Future<Output = T>, handed_in: tokio::sync::mpsc::UnboundedSender<()>) -> T {
    tokio::pin!(write);
    let first = std::future::poll_fn(|context| std::task::Poll::Ready(write.as_mut().poll(context))).await;
    let _ = handed_in.send(());
    match first {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => write.await,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_and_a_panicking_call_fail_alone() {
    let test = with_table(TestDb::fresh()).await;
    let mut tasks = JoinSet::new();
    let release = hold_writer(&test.db, &mut tasks).await;
    let (handed, mut handed_in) = tokio::sync::mpsc::unbounded_channel();
    for number in 0..60_i64 {
        let (db, handed) = (test.db.clone(), handed.clone());
        tasks.spawn(async move {
            let write = db.write(Priority::Foreground, move |tx| {
                tx.execute("INSERT INTO mark (number) VALUES (?1)", [number]).map_err(broken)?;
                assert!(number % 3 != 1, "a panic, as the test wants");
                if number % 3 == 2 { Err(StoreError::unavailable("test", "as asked")) } else { Ok(number) }
            });
            match (number % 3, told(write, handed).await) {
                (0, Ok(answer)) => assert_eq!(answer, number),
                (1, Err(StoreError::Broken { .. })) | (2, Err(StoreError::Unavailable { .. })) => {}
                (_, other) => panic!("{number}: {other:?}"),
            }
        });
    }
    queued(&mut handed_in, 60).await;
    drop(release);
    finish(tasks).await;
    assert_eq!(marks(&test.db).await, (0..60).filter(|number| number % 3 == 0).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once() {
    let test = with_table(TestDb::with(|options| options.foreground_queue = 2)).await;
    let mut tasks = JoinSet::new();
    let release = hold_writer(&test.db, &mut tasks).await;
    let (handed, mut handed_in) = tokio::sync::mpsc::unbounded_channel();
    for number in 0..2 {
        let (db, handed) = (test.db.clone(), handed.clone());
        tasks.spawn(async move { told(mark(&db, number), handed).await.unwrap() });
    }
    queued(&mut handed_in, 2).await;
    // The writer is still held: only a refusal can answer.
    let refused = timeout(PATIENCE, mark(&test.db, 2)).await.expect("an answer while the writer is held");
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    drop(release);
    finish(tasks).await;
    assert_eq!(marks(&test.db).await, [0, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreground_goes_before_background_work() {
    let test = TestDb::fresh();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    let release = hold_writer(&test.db, &mut tasks).await;
    let (handed, mut handed_in) = tokio::sync::mpsc::unbounded_channel();
    for (priority, count) in [(Priority::Background, 10), (Priority::Foreground, 10)] {
        for _ in 0..count {
            let (db, order, handed) = (test.db.clone(), Arc::clone(&order), handed.clone());
            tasks.spawn(async move {
                let write = db.write(priority, move |_| {
                    order.lock().unwrap().push(priority);
                    Ok(())
                });
                told(write, handed).await.unwrap();
            });
        }
        queued(&mut handed_in, count).await;
    }
    drop(release);
    finish(tasks).await;
    let order = order.lock().unwrap();
    let ahead = order.iter().take_while(|priority| **priority == Priority::Background).count();
    // One may go ahead when background work has waited for too long; the others let foreground calls pass.
    assert!(ahead <= 1, "{order:?}");
    assert_eq!(
        order.iter().skip(ahead).take(10).filter(|priority| **priority == Priority::Foreground).count(),
        10,
        "{order:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_work_is_not_starved() {
    let test = with_table(TestDb::fresh()).await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut tasks = JoinSet::new();
    for caller in 0..8_i64 {
        let (db, stopped) = (test.db.clone(), stopped.clone());
        tasks.spawn(async move {
            let mut number = caller << 32;
            while !*stopped.borrow() {
                mark(&db, number).await.unwrap();
                number += 1;
            }
        });
    }
    for _ in 0..20 {
        timeout(PATIENCE, test.db.write(Priority::Background, |_| Ok(()))).await.expect("not starved").unwrap();
    }
    stop.send(true).unwrap();
    finish(tasks).await;
}

#[tokio::test]
async fn an_answer_means_committed() {
    let test = with_table(TestDb::fresh()).await;
    let other = rusqlite::Connection::open(test.directory.path().join(DATABASE_FILE)).unwrap();
    for number in 0..50 {
        mark(&test.db, number).await.unwrap();
        let newest: i64 = other.query_row("SELECT max(number) FROM mark", [], |row| row.get(0)).unwrap();
        assert_eq!(newest, number);
    }
}

#[tokio::test]
async fn a_full_disk_is_unavailable_and_passes() {
    let test = with_table(TestDb::fresh()).await;
    let pages = |limit: &'static str| {
        move |tx: &Tx<Plain>| {
            let set = format!("PRAGMA max_page_count = {limit}");
            tx.query_row(&set, [], |row| row.get::<_, i64>(0)).map(|_| ()).map_err(broken)
        }
    };
    test.db.write(Priority::Foreground, pages("1")).await.unwrap();
    let insert = test.db.write(Priority::Foreground, |tx| {
        let inserted = tx.execute("INSERT INTO mark (number, body) VALUES (1, zeroblob(1000000))", []);
        inserted.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => StoreError::unavailable("test", error.to_string()),
            _ => broken(error),
        })
    });
    assert!(matches!(insert.await, Err(StoreError::Unavailable { .. })));
    test.db.write(Priority::Foreground, pages("1000000")).await.unwrap();
    mark(&test.db, 2).await.unwrap();
    assert_eq!(marks(&test.db).await, [2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_finishes_what_waits_and_refuses_the_rest() {
    let test = with_table(TestDb::fresh()).await;
    let mut tasks = JoinSet::new();
    let release = hold_writer(&test.db, &mut tasks).await;
    let (handed, mut handed_in) = tokio::sync::mpsc::unbounded_channel();
    for number in 0..100 {
        let (db, handed) = (test.db.clone(), handed.clone());
        tasks.spawn(async move { told(mark(&db, number), handed).await.unwrap() });
    }
    queued(&mut handed_in, 100).await;
    drop(release);
    timeout(PATIENCE, test.db.close()).await.unwrap();
    finish(tasks).await;
    assert!(matches!(mark(&test.db, 100).await, Err(StoreError::Unavailable { .. })));
    assert!(test.db.read(|_| Ok(())).await.is_err());
    assert_eq!(marks(&test.reopen()).await, (0..100).collect::<Vec<_>>());
}
