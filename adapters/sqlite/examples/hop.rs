//! What a call costs before any store does its work: the hop to the writer and back, and to a reader and back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use madang_kernel::{StoreError, SystemClock};
use madang_sqlite::{Lane, Sqlite, SqliteOptions};
use tokio::task::JoinSet;

const RUN_MS: u64 = 3_000;
const ROWS: i64 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let db = Sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock))?;
    runtime.block_on(measure(db))?;
    Ok(())
}

async fn measure(db: Sqlite) -> Result<(), StoreError> {
    db.write(Lane::People, |tx| {
        let fill = format!(
            "CREATE TABLE thing (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO thing SELECT i, printf('%0500d', i) FROM n"
        );
        tx.execute_batch(&fill).map_err(failed)
    })
    .await?;
    for callers in [1, 64, 512] {
        let rate = rate(callers, &db, |db, _| async move { insert(&db).await }).await;
        println!("{callers:>4} callers: {rate:>8.0} rows/s written");
    }
    for callers in [1, 64, 512] {
        let rate = rate(callers, &db, |db, number| async move { find(&db, number).await }).await;
        println!("{callers:>4} callers: {rate:>8.0} rows/s read");
    }
    db.close().await;
    Ok(())
}

async fn insert(db: &Sqlite) -> Result<(), StoreError> {
    let insert = db.write(Lane::People, |tx| {
        let mut insert = tx.prepare_cached("INSERT INTO thing (body) VALUES (printf('%0500d', ?1))").map_err(failed)?;
        insert.execute([7]).map(|_| ()).map_err(failed)
    });
    insert.await
}

async fn find(db: &Sqlite, number: u64) -> Result<(), StoreError> {
    let id = (number.wrapping_mul(7_919) % ROWS as u64) as i64 + 1;
    let find = db.read(move |snapshot| {
        let mut find = snapshot.prepare_cached("SELECT body FROM thing WHERE id = ?1").map_err(failed)?;
        find.query_row([id], |row| row.get::<_, String>(0)).map_err(failed)
    });
    find.await.map(|body| assert_eq!(body.len(), 500))
}

async fn rate<W, F>(callers: u64, db: &Sqlite, work: W) -> f64
where
    W: Fn(Sqlite, u64) -> F + Copy + Send + 'static,
    F: Future<Output = Result<(), StoreError>> + Send,
{
    let count = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let end = started + Duration::from_millis(RUN_MS);
    let mut tasks = JoinSet::new();
    for caller in 0..callers {
        let (db, count) = (db.clone(), Arc::clone(&count));
        tasks.spawn(async move {
            let mut number = caller << 32;
            while Instant::now() < end {
                if work(db.clone(), number).await.is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                number += 1;
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    count.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::broken("example", error)
}
