//! Page numbers deep in a big board: over HTTP, and at the store beside the two usual ways to find such a page.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use madang_board::BoardId;
use madang_kernel::{PageNumber, PageSize};
use madang_sqlite::PageQuery;

use super::Scenario;
use super::store::Store;
use crate::cli::Options;
use crate::client::Connection;
use crate::process::Server;
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;
use crate::site::{FullestBoard, Scratch};

/// The site this scenario shares with `startup`.
pub(super) const SITE: &str = "big";
const PAGE_SIZE: u32 = 30;
/// Deep enough that page 1's advantages are gone.
const REFERENCE_PAGE: u64 = 100;
/// The last page may cost so many times the reference page.
const GOAL: Goal = Goal::AtMost(3.0);
/// Enough for a median, also where one page takes a tenth of a second.
const SAMPLES_MIN: u32 = 15;
const SAMPLES_MAX: u32 = 2_000;

/// Measures over HTTP first, then, with the server stopped, at the store.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site(SITE, options.articles)?;
    let server = site.serve()?;
    let board = FullestBoard::find(server.address).await?;
    let last = board.article_count.div_ceil(PAGE_SIZE.into());
    ensure!(last > REFERENCE_PAGE, "the board has only {last} pages");
    let mut rows = over_http(options, &server, &board, last).await?;
    server.stop().await?;
    let store = Store::open(&site.data)?;
    let board_id = board.board_id.parse().context("the board's id is none")?;
    rows.extend(at_the_store(options, &store, board_id, last).await?);
    store.close().await;
    Ok(rows)
}

async fn over_http(options: &Options, server: &Server, board: &FullestBoard, last: u64) -> Result<Vec<Row>> {
    let mut connection = Connection::open(server.address).await?;
    // The last page is rarely full; the one before it carries as much as the reference does.
    let pages = [1, REFERENCE_PAGE, last - 1, last].map(|number| board.page(number, PAGE_SIZE));
    let mut samples = [(); 4].map(|()| Samples::new());
    let mut pace = Pace::of(options);
    while pace.goes_on() {
        for (page, samples) in pages.iter().zip(&mut samples) {
            let started = Instant::now();
            let answer = connection.exchange(page).await?;
            match answer.status {
                200 => samples.succeeded(started.elapsed()),
                status => samples.failed(format!("status {status}")),
            }
        }
    }
    let [first, reference, full, deepest] = samples;
    let reference = || Figure::median_ms(&format!("page {REFERENCE_PAGE}"), &reference);
    let compare = |figure, goal| Row::compare(Scenario::DeepPages, "ms", figure, reference(), goal);
    let rows = [
        compare(Figure::median_ms("page 1 over HTTP", &first), Goal::None),
        compare(Figure::median_ms("last full page over HTTP", &full), GOAL),
        compare(Figure::median_ms(&format!("last page ({last}) over HTTP"), &deepest), GOAL),
    ];
    Ok(rows.into())
}

async fn at_the_store(options: &Options, store: &Store, board: BoardId, last: u64) -> Result<Vec<Row>> {
    let size = PageSize::new("page_size", PAGE_SIZE.into())?;
    let last = PageNumber::new("page", i64::try_from(last - 1)?)?;
    let reference = PageNumber::new("page", i64::try_from(REFERENCE_PAGE)?)?;
    let cases = [
        (PageQuery::Blocks, reference),
        (PageQuery::Blocks, last),
        (PageQuery::CoveringSubquery, last),
        (PageQuery::PlainOffset, last),
    ];
    let mut samples = cases.map(|_| Samples::new());
    let mut pace = Pace::of(options);
    while pace.goes_on() {
        for ((way, page), samples) in cases.iter().zip(&mut samples) {
            samples.succeeded(store.time_page(*way, board, *page, size).await?);
        }
    }
    let [near, blocks, covering, plain] = samples;
    let blocks = || Figure::median_ms("last full page at the store", &blocks);
    let against = |what: &str, limit| {
        Row::compare(Scenario::DeepPages, "ms", blocks(), Figure::median_ms(what, limit), Goal::None)
    };
    Ok(vec![
        against(&format!("page {REFERENCE_PAGE} at the store"), &near),
        against("covering sub-query", &covering),
        against("plain offset", &plain),
    ])
}

/// Takes as many samples as fit the time, within bounds.
struct Pace {
    until: Instant,
    taken: u32,
}

impl Pace {
    fn of(options: &Options) -> Self {
        let length: Duration = options.turn() * options.rounds;
        Self { until: Instant::now() + length, taken: 0 }
    }

    fn goes_on(&mut self) -> bool {
        self.taken += 1;
        self.taken <= SAMPLES_MIN || (self.taken <= SAMPLES_MAX && Instant::now() < self.until)
    }
}
