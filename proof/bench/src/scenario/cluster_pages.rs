//! Page numbers deep in a big board on a relational server: time beside page 100, and the rows that the server reads.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use madang_article::{Article, ArticleHead, ArticleStore};
use madang_board::BoardId;
use madang_kernel::{Page, PageNumber, PageSize, ShardId};
use madang_mysql::{Announce, MysqlArticles, Service};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::Scenario;
use super::callers::{create_board, new_article, sample_article};
use super::relayed::{Relayed, Servers};
use crate::cli::Options;
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;

const PAGE_SIZE: u32 = 30;
/// Deep enough that page 1's advantages are gone.
const REFERENCE_PAGE: i64 = 100;
/// What the board of the goal has at this depth is left of it below.
const DEEP_PAGE: i64 = 100_000;
const GOAL: Goal = Goal::AtMost(6.0);
/// A block is skipped row by row at most, after one look at each level; then each row of the page is read twice.
const ROWS_MAX: f64 = 1_000.0 + 2.0 * 128.0 + 3.0 * 30.0;
/// Articles in one call of the store's way to fill a board.
const SLICE: u32 = 8_000;
const PROGRESS_EVERY: u32 = 400_000;
const SAMPLES: u32 = 300;
/// Pages of other depths, spread over the board.
const DEPTHS: i64 = 16;

/// Fills a board, then reads its pages.
pub(crate) async fn run(options: &Options) -> Result<Vec<Row>> {
    let servers = Servers::of_environment()?;
    let database = Relayed::open(&servers, servers.options("pages"), Service::Article).await?;
    let rows = measure(options, &database).await;
    database.close().await?;
    rows
}

async fn measure(options: &Options, database: &Relayed) -> Result<Vec<Row>> {
    let store = MysqlArticles::new(database.db.clone());
    let board = fill(&store, database, options.articles).await?;
    let pages = i64::from(options.articles / PAGE_SIZE);
    let deep = DEEP_PAGE.min(pages);
    ensure!(deep > REFERENCE_PAGE, "the board has only {pages} pages");
    let spread: Vec<i64> = (1..=DEPTHS).map(|depth| (pages * depth / DEPTHS).max(REFERENCE_PAGE + 1)).collect();
    let mut samples = [(); 4].map(|()| Samples::new());
    for round in 0..SAMPLES {
        let elsewhere = spread[round as usize % spread.len()];
        for (page, samples) in [1, REFERENCE_PAGE, deep, elsewhere].into_iter().zip(&mut samples) {
            let started = Instant::now();
            let found = store.page(board, PageNumber::new("page", page)?, size()?).await?;
            samples.succeeded(started.elapsed());
            ensure!(found.items.len() == PAGE_SIZE as usize, "page {page} has {} articles", found.items.len());
        }
    }
    let [first, reference, deepest, elsewhere] = samples;
    let limit = || Figure::median_ms(&format!("page {REFERENCE_PAGE}"), &reference);
    let compare = |what: String, samples, goal| {
        Row::compare(Scenario::ClusterPages, "ms", Figure::median_ms(&what, samples), limit(), goal)
    };
    let mut rows = vec![
        compare("page 1".into(), &first, Goal::None),
        compare(format!("page {deep} of {} articles", options.articles), &deepest, GOAL),
        compare(format!("{DEPTHS} pages of all depths"), &elsewhere, Goal::None),
    ];
    let mut conn = database.connect_to_it().await?;
    let mut most = (0, 0);
    for page in spread.into_iter().chain([REFERENCE_PAGE, deep]) {
        most = most.max((rows_read(&mut conn, board, page).await?, page));
    }
    conn.disconnect().await?;
    let figure = Figure::plain(&format!("rows read for the worst of these pages ({})", most.1), most.0 as f64);
    let limit = Figure::plain("a block and the page", ROWS_MAX);
    rows.push(Row::compare(Scenario::ClusterPages, "rows", figure, limit, Goal::AtMost(1.0)));
    Ok(rows)
}

fn size() -> Result<PageSize> {
    Ok(PageSize::new("page_size", PAGE_SIZE.into())?)
}

/// A board of so many articles, by the store's own way to fill one.
async fn fill(store: &MysqlArticles, database: &Relayed, articles: u32) -> Result<BoardId> {
    let issuer = &database.issuer;
    let board_id = create_board(store, issuer, ShardId::HOME, "deep".into()).await?;
    let sample = sample_article(1);
    let article =
        |number| new_article(issuer, board_id, &Article { title: format!("Article {number}"), ..sample.clone() });
    let started = Instant::now();
    for first in (0..articles).step_by(SLICE as usize) {
        let slice = (first..articles.min(first + SLICE)).map(article);
        store.create_many(slice.collect::<Result<_>>()?, Announce::Nothing).await?;
        if first % PROGRESS_EVERY == 0 && first > 0 {
            let rate = f64::from(first) / started.elapsed().as_secs_f64();
            eprintln!("{first} of {articles} articles, {rate:.0} a second");
        }
    }
    Ok(board_id)
}

/// What the server reads for a page, over a connection on which nothing else happens.
async fn rows_read(conn: &mut Conn, board: BoardId, page: i64) -> Result<u64> {
    conn.query_drop("FLUSH STATUS").await.context("the account may not reset its counters")?;
    let found: Page<ArticleHead> =
        MysqlArticles::page_over(conn, board, PageNumber::new("page", page)?, size()?).await?;
    ensure!(!found.items.is_empty(), "page {page} is empty");
    let read: HashMap<String, u64> =
        conn.query::<(String, u64), _>("SHOW SESSION STATUS LIKE 'Handler_read%'").await?.into_iter().collect();
    // Reads of the temporary table that holds the page's ids are no reads of articles.
    Ok(read.iter().filter(|(name, _)| *name != "Handler_read_rnd_next").map(|(_, count)| count).sum())
}
