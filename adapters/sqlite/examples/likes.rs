//! Prints how fast one hot article can be liked: one transaction a like, then the four ways of counting.
//!
//! `cargo run --release -p madang-sqlite --example likes [SECONDS]`

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use madang_event::Writer;
use madang_kernel::{ArticleId, EventId, Id, MemberId, StoreError, SystemClock, Timestamp};
use madang_like::{Like, LikeOutcome, LikeStore};
use madang_sqlite::{Counting, Sqlite, SqliteLikes, SqliteOptions};
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error>;

const CALLERS: usize = 64;
const ARTICLE: i64 = 1 << 40;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let seconds = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    let span = Duration::from_secs(seconds);
    let (alone, _) = rate(Counting::UpdateInPlace, 1, span).await?;
    println!("one transaction a like,     {CALLERS} callers: {alone:>9.0}/s");
    for (name, counting) in [
        ("update in place", Counting::UpdateInPlace),
        ("select for update", Counting::SelectForUpdate),
        ("optimistic", Counting::Optimistic),
        ("grouped", Counting::Grouped),
    ] {
        let (rate, refused) = rate(counting, 256, span).await?;
        println!("{name:<27} {CALLERS} callers: {rate:>9.0}/s  ({:.1} x, {refused} refused)", rate / alone);
    }
    Ok(())
}

/// Likes of one article a second, each by another member, and how many were refused.
async fn rate(counting: Counting, batch_max: usize, span: Duration) -> Result<(f64, u64), Failure> {
    let directory = tempfile::tempdir()?;
    let mut options = SqliteOptions::in_directory(directory.path());
    options.batch_max = batch_max;
    let store = SqliteLikes::counting(Sqlite::open(options, Arc::new(SystemClock))?, counting);
    let stop = Arc::new(AtomicBool::new(false));
    let next = Arc::new(AtomicI64::new(1));
    let refused = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let (store, stop, next, refused) = (store.clone(), Arc::clone(&stop), Arc::clone(&next), Arc::clone(&refused));
        callers.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                match store.like(like(next.fetch_add(1, Ordering::Relaxed))).await {
                    Ok(LikeOutcome::Done(_) | LikeOutcome::Gone) => {}
                    Err(StoreError::Unavailable { .. }) => {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
    }
    tokio::time::sleep(span).await;
    stop.store(true, Ordering::Relaxed);
    for outcome in callers.join_all().await {
        outcome?;
    }
    let elapsed = started.elapsed().as_secs_f64();
    // What is in the store, not what was asked for.
    let counts = store.counts(vec![ArticleId::from_raw(ARTICLE)]).await?;
    let liked = counts.into_iter().flatten().map(|count| count.like_count).sum::<u64>();
    Ok((liked as f64 / elapsed, refused.load(Ordering::Relaxed)))
}

fn like(number: i64) -> Like {
    Like {
        article_id: ArticleId::from_raw(ARTICLE),
        member: Writer { member_id: MemberId::from_raw(number), name: "somebody".into() },
        created_at: Timestamp::from_millis(number),
        event_id: EventId::from_raw(number),
    }
}
