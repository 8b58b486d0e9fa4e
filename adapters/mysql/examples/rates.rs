//! Prints what folding gains: likes on one article and new articles on one board, one transaction a call and folded.
//!
//! `MADANG_TEST_MYSQL=mysql://…,mysql://… cargo run --release -p madang-mysql --example rates -- [callers] [seconds]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at, which may end with a panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, NewBoard};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_mysql::Database;
use madang_event::Writer;
use madang_kernel::{EventId, Id, SystemClock, Timestamp};
use madang_like::{Like, LikeStore};
use madang_mysql::{Mysql, MysqlArticles, MysqlLikes, MysqlOptions, ServerOptions, Service};
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().unwrap()).collect();
    let callers = numbers.first().copied().unwrap_or(64);
    let span = Duration::from_secs(numbers.get(1).copied().unwrap_or(5));
    for (what, service) in [("likes on one article", Service::Like), ("articles on one board", Service::Article)] {
        let mut rates = Vec::new();
        for batch_calls_max in [1, 256] {
            let options = options(batch_calls_max);
            let db = Mysql::open(&options, service, Arc::new(SystemClock)).await.unwrap();
            rates.push(if service == Service::Like {
                likes(&db, callers, span).await
            } else {
                articles(&db, callers, span).await
            });
            db.close().await;
            drop_databases(&options, service).await;
        }
        println!(
            "{what}, {callers} callers: {:.0}/s one by one, {:.0}/s folded, {:.1} x",
            rates[0],
            rates[1],
            rates[1] / rates[0]
        );
    }
}

fn options(batch_calls_max: usize) -> MysqlOptions {
    let urls = std::env::var("MADANG_TEST_MYSQL").expect("MADANG_TEST_MYSQL names a server");
    let url = urls.split(',').next().unwrap().trim().to_owned();
    let mut options = MysqlOptions::new(vec![ServerOptions { url, shards: "0-63".into() }]);
    options.database_prefix = format!("rates{:08x}", rand::random::<u32>());
    options.batch_calls_max = batch_calls_max;
    options
}

async fn drop_databases(options: &MysqlOptions, service: Service) {
    let mut conn = mysql_async::Conn::from_url(&options.servers[0].url).await.unwrap();
    conn.query_drop(format!("DROP DATABASE `{}`", Database::from(service).under(&options.database_prefix)))
        .await
        .unwrap();
}

async fn likes(db: &Mysql, callers: u64, span: Duration) -> f64 {
    let store = Arc::new(MysqlLikes::new(db.clone()));
    rate(callers, span, move |number| {
        let store = Arc::clone(&store);
        async move {
            let member = Writer { member_id: MemberId::from_raw(number), name: "somebody".into() };
            let created_at = Timestamp::from_millis(number);
            let (article_id, event_id) = (ArticleId::from_raw(77), EventId::from_raw(number));
            store.like(Like { article_id, member, created_at, event_id }).await.unwrap();
        }
    })
    .await
}

async fn articles(db: &Mysql, callers: u64, span: Duration) -> f64 {
    let store = Arc::new(MysqlArticles::new(db.clone()));
    let board_id = BoardId::from_raw(1);
    let created_at = Timestamp::from_millis(1);
    let (description, position, comment_mode) = (String::new(), 0, CommentMode::Tree);
    let board =
        Board { board_id, slug: "b".into(), title: "B".into(), description, position, comment_mode, created_at };
    store.create_board(NewBoard { board, idempotency: None }).await.unwrap();
    rate(callers, span, move |number| {
        let store = Arc::clone(&store);
        let article = Article {
            article_id: ArticleId::from_raw(number),
            board_id,
            title: "A title of usual length".into(),
            content: "Some words. ".repeat(20),
            content_html: "<p>Some words.</p> ".repeat(20),
            writer: Writer { member_id: MemberId::from_raw(7), name: "somebody".into() },
            created_at,
            modified_at: created_at,
            version: 1,
        };
        async move {
            let event_id = EventId::from_raw(number);
            store.create(CreateArticle { article, event_id, idempotency: None }).await.unwrap();
        }
    })
    .await
}

/// Calls in a second, each caller one after another.
async fn rate<F: Future<Output = ()> + Send>(
    callers: u64,
    span: Duration,
    call: impl Fn(i64) -> F + Clone + Send + Sync + 'static,
) -> f64 {
    let (stop, next) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(1)));
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let (stop, next, call) = (Arc::clone(&stop), Arc::clone(&next), call.clone());
        tasks.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                call(next.fetch_add(1, Ordering::Relaxed)).await;
            }
        });
    }
    tokio::time::sleep(span).await;
    stop.store(true, Ordering::Relaxed);
    tasks.join_all().await;
    (next.load(Ordering::Relaxed) - 1) as f64 / started.elapsed().as_secs_f64()
}
