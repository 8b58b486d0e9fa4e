//! Prints what consumer groups in the same process cost those who write, and how fast a group that was away catches up.
//!
//! `cargo run --release -p madang-sqlite --example followers [SECONDS]`

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, NewBoard};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::{Envelope, Topic, Writer, type_name};
use madang_kernel::{EventId, Id, SystemClock, Timestamp};
use madang_messaging::{
    Consumer, ConsumerConfig, Delivery, GroupId, Handled, Handler, HandlerError, OnError, Supervisor,
};
use madang_sqlite::{Sqlite, SqliteArticles, SqliteLog, SqliteOptions};
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const BOARD: i64 = 1 << 22;
const CALLERS: usize = 64;
/// Linux counts processor time in hundredths of a second.
const TICK_US: f64 = 10_000.0;
const DRAIN: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let seconds = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    let span = Duration::from_secs(seconds);
    for turn in 1..=3 {
        let alone = Site::open().await?.creations(span).await?;
        let site = Site::open().await?;
        let (followers, _) = site.follow(256);
        let followed = site.creations(span).await?;
        println!("{turn}: alone {alone}, with five groups {followed}");
        followers.shutdown(DRAIN).await;
    }
    let site = Site::open().await?;
    site.creations(span).await?;
    let started = Instant::now();
    let (followers, done) = site.follow(2_048);
    while done.load(Ordering::Relaxed) < made(&site) * 5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rate = done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64();
    println!("catch-up of five groups at once: {rate:.0} deliveries/s");
    followers.shutdown(DRAIN).await;
    Ok(())
}

/// What a creation costs. On a busy machine the processor's time says more than the rate.
struct Cost {
    rate: f64,
    cpu_us: f64,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} articles/s at {:.0} us of processor time each", self.rate, self.cpu_us)
    }
}

/// Processor time of this process so far, by `/proc`; 0 where there is none.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

fn made(site: &Site) -> u64 {
    (site.next.load(Ordering::Relaxed) - BOARD - 1).unsigned_abs()
}

struct Site {
    db: Sqlite,
    store: SqliteArticles,
    next: AtomicI64,
    _directory: tempfile::TempDir,
}

impl Site {
    async fn open() -> Result<Arc<Self>, Failure> {
        let directory = tempfile::tempdir()?;
        let db = Sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock))?;
        let store = SqliteArticles::new(db.clone());
        let board = Board {
            board_id: BoardId::from_raw(BOARD),
            slug: "followers".into(),
            title: "Followers".into(),
            comment_mode: CommentMode::TwoLevel,
            created_at: Timestamp::from_millis(0),
        };
        store.create_board(NewBoard { board, idempotency: None }).await?;
        Ok(Arc::new(Self { db, store, next: AtomicI64::new(BOARD + 1), _directory: directory }))
    }

    /// Three groups that ignore what they see, and two on every topic that read all of it.
    fn follow(&self, batch_max: usize) -> (Supervisor, Arc<AtomicU64>) {
        let (supervisor, done) = (Supervisor::new("followers"), Arc::new(AtomicU64::new(0)));
        for (name, reads_all) in [("one", false), ("two", false), ("three", false), ("four", true), ("five", true)] {
            let every: &[Topic] = if reads_all { &Topic::ALL } else { &[Topic::Article] };
            let topics = every.iter().map(|topic| topic.name().to_owned()).collect();
            let config = ConsumerConfig { batch_max, ..ConsumerConfig::new(GroupId::new(name), topics) };
            let handler = Arc::new(Reading { reads_all, done: Arc::clone(&done) });
            let log = Arc::new(SqliteLog::new(self.db.clone()));
            let consumer = Consumer::new(config, log, handler, Arc::new(SystemClock));
            supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
        }
        (supervisor, done)
    }

    async fn creations(self: &Arc<Self>, span: Duration) -> Result<Cost, Failure> {
        let (before, started, cpu_before) = (made(self), Instant::now(), cpu_ticks());
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let site = Arc::clone(self);
            callers.spawn(async move {
                while started.elapsed() < span {
                    site.store.create(site.draft()).await?;
                }
                Ok::<_, Failure>(())
            });
        }
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        let created = (made(self) - before) as f64;
        let cpu_us = (cpu_ticks() - cpu_before) as f64 * TICK_US / created;
        Ok(Cost { rate: created / started.elapsed().as_secs_f64(), cpu_us })
    }

    fn draft(&self) -> CreateArticle {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let content = "A paragraph of ordinary length, as people write them on a board. ".repeat(12);
        let article = Article {
            article_id: ArticleId::from_raw(id),
            board_id: BoardId::from_raw(BOARD),
            title: format!("An article with a title, number {id}"),
            content_html: format!("<p>{content}</p>"),
            content,
            writer: Writer { member_id: MemberId::from_raw(1 + id % 100), name: "somebody".into() },
            created_at: Timestamp::from_millis(id),
            modified_at: Timestamp::from_millis(id),
            version: 1,
        };
        CreateArticle { article, event_id: EventId::from_raw(id), idempotency: None }
    }
}

struct Reading {
    reads_all: bool,
    done: Arc<AtomicU64>,
}

#[async_trait]
impl Handler for Reading {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        self.done.fetch_add(deliveries.len() as u64, Ordering::Relaxed);
        let answers = deliveries.iter().map(|Delivery { message, .. }| {
            let ignored = |raw: &[u8]| Envelope::peek(raw).is_some_and(|it| it.type_name != type_name::ARTICLE_DELETED);
            if self.reads_all || !ignored(&message.payload) {
                Envelope::decode(&message.payload).map_err(|error| HandlerError::Undecodable(error.to_string()))?;
            }
            Ok(Handled::Done)
        });
        answers.collect()
    }
}
