//! Prints how fast the article store is on this machine: group commit beside one transaction a call, reads by id, and a
//! deep page beside what it is compared with.
//!
//! `cargo run --release -p madang-sqlite --example rates [SECONDS] [ARTICLES]`

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, NewBoard};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::Writer;
use madang_kernel::{EventId, Id, PageNumber, PageSize, StoreError, SystemClock, Timestamp};
use madang_sqlite::{PageQuery, Sqlite, SqliteArticles, SqliteOptions};
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error>;

const BOARD: i64 = 1 << 22;
const READERS: usize = 64;
/// Articles that one call to the writer creates while the deep board is filled.
const SEED_SLICE: usize = 250;
/// Times a page is asked for, to print the median.
const PAGE_REPEATS: usize = 21;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let articles = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let span = Duration::from_secs(seconds);

    let alone = Site::open(1).await?;
    let single = alone.creations(64, span).await?;
    println!("create, one transaction a call,  64 callers: {single:>9.0}/s");
    drop(alone);

    let site = Site::open(256).await?;
    for callers in [64, 512] {
        let rate = site.creations(callers, span).await?;
        println!("create, group commit,          {callers:>4} callers: {rate:>9.0}/s  ({:.1} x)", rate / single);
    }
    println!("find by id,                      64 tasks  : {:>9.0}/s", site.finds(span).await?);
    drop(site);

    if articles > 0 {
        deep_pages(articles).await?;
    }
    Ok(())
}

struct Site {
    store: SqliteArticles,
    next: AtomicI64,
    _directory: tempfile::TempDir,
}

impl Site {
    async fn open(batch_max: usize) -> Result<Arc<Self>, Failure> {
        let directory = tempfile::tempdir()?;
        let mut options = SqliteOptions::in_directory(directory.path());
        options.batch_max = batch_max;
        let store = SqliteArticles::new(Sqlite::open(options, Arc::new(SystemClock))?);
        let board = Board {
            board_id: BoardId::from_raw(BOARD),
            slug: "rates".into(),
            title: "Rates".into(),
            comment_mode: CommentMode::TwoLevel,
            created_at: Timestamp::from_millis(0),
        };
        store.create_board(NewBoard { board, idempotency: None }).await?;
        Ok(Arc::new(Self { store, next: AtomicI64::new(BOARD + 1), _directory: directory }))
    }

    fn draft(&self) -> CreateArticle {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let content = "A paragraph of ordinary length, as people write them on a board. ".repeat(5);
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

    async fn creations(self: &Arc<Self>, callers: usize, span: Duration) -> Result<f64, StoreError> {
        let site = Arc::clone(self);
        rate(callers, span, move |_| {
            let site = Arc::clone(&site);
            async move { site.store.create(site.draft()).await.map(|_| ()) }
        })
        .await
    }

    async fn finds(self: &Arc<Self>, span: Duration) -> Result<f64, StoreError> {
        let site = Arc::clone(self);
        let made = self.next.load(Ordering::Relaxed) - BOARD - 1;
        rate(READERS, span, move |turn| {
            let site = Arc::clone(&site);
            let id = ArticleId::from_raw(BOARD + 1 + (turn.wrapping_mul(7_919) % made as u64) as i64);
            async move { site.store.find(id).await.map(|_| ()) }
        })
        .await
    }
}

/// Calls a second, made by `callers` tasks that each wait for their answer.
async fn rate<F>(
    callers: usize,
    span: Duration,
    call: impl Fn(u64) -> F + Clone + Send + 'static,
) -> Result<f64, StoreError>
where
    F: Future<Output = Result<(), StoreError>> + Send,
{
    let stop = Arc::new(AtomicBool::new(false));
    let made = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let (stop, made, call) = (Arc::clone(&stop), Arc::clone(&made), call.clone());
        tasks.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                call(made.fetch_add(1, Ordering::Relaxed)).await?;
            }
            Ok::<_, StoreError>(())
        });
    }
    tokio::time::sleep(span).await;
    stop.store(true, Ordering::Relaxed);
    for outcome in tasks.join_all().await {
        outcome?;
    }
    Ok(made.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64())
}

async fn deep_pages(articles: usize) -> Result<(), Failure> {
    let site = Site::open(256).await?;
    let started = Instant::now();
    for _ in 0..articles.div_ceil(SEED_SLICE) {
        let slice = (0..SEED_SLICE).map(|_| site.draft()).collect();
        site.store.create_many(slice).await?;
    }
    println!("seed by slices,             {articles:>9} rows: {:>9.1} s", started.elapsed().as_secs_f64());
    let size = PageSize::new("page_size", 30)?;
    let last = articles.div_ceil(30) as i64;
    for (name, query, number) in [
        ("page 1", PageQuery::Blocks, 1),
        ("page 100", PageQuery::Blocks, 100),
        ("last page", PageQuery::Blocks, last),
        ("last page, covering sub-query", PageQuery::CoveringSubquery, last),
        ("last page, plain offset", PageQuery::PlainOffset, last),
    ] {
        let page = PageNumber::new("page", number)?;
        let mut took = Vec::new();
        for _ in 0..PAGE_REPEATS {
            let started = Instant::now();
            site.store.page_by(query, BoardId::from_raw(BOARD), page, size).await?;
            took.push(started.elapsed());
        }
        took.sort();
        println!("{name:<46} {:>9.3} ms", took[PAGE_REPEATS / 2].as_secs_f64() * 1_000.0);
    }
    Ok(())
}
