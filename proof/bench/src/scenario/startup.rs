//! Start on the big database, and the memory of the server before and after it is loaded.

use anyhow::Result;

use super::{Scenario, deep_pages};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::HttpLoad;
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;
use crate::site::{FullestBoard, Scratch};

const STARTS: u32 = 5;
const START_LIMIT_MS: f64 = 1_000.0;
const MEMORY_LIMIT_MB: f64 = 200.0;
const WITHIN: Goal = Goal::AtMost(1.0);
/// Pages that the load reads, spread over the whole board.
const PAGES: u64 = 64;
const PAGE_SIZE: u32 = 30;

/// Starts the server several times, then loads the last one.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site(deep_pages::SITE, options.articles)?;
    let mut starts = Samples::new();
    for _ in 1..STARTS {
        let server = site.serve()?;
        starts.succeeded(server.started_in);
        server.stop().await?;
    }
    let server = site.serve()?;
    starts.succeeded(server.started_in);
    let idle = server.memory()?;

    let board = FullestBoard::find(server.address).await?;
    let article = board.newest_article(server.address).await?;
    let last = board.article_count.div_ceil(PAGE_SIZE.into()).max(1);
    let pages = (0..PAGES).map(|step| board.page(1 + step * (last - 1) / (PAGES - 1), PAGE_SIZE));
    let load = |requests: Vec<Request>| HttpLoad::new(server.address, options.connections, requests);
    let mut loaded = load(vec![Request::get(&article)]).run(options.turn()).await.samples;
    loaded.merge(&load(pages.collect()).run(options.turn()).await.samples);
    let after = server.memory()?;
    server.stop().await?;

    let limit = || Figure::plain("limit", MEMORY_LIMIT_MB);
    let memory = |what: &str, mb| Row::compare(Scenario::Startup, "MB", Figure::plain(what, mb), limit(), WITHIN);
    let started = Figure::median_ms(&format!("start with {} articles", board.article_count), &starts);
    Ok(vec![
        Row::compare(Scenario::Startup, "ms", started, Figure::plain("limit", START_LIMIT_MS), WITHIN),
        memory("resident after start", idle.resident_mb),
        memory("resident after load", after.resident_mb),
        memory("resident at the peak", after.peak_mb),
    ])
}
