//! Three times what the server can do: how much of the peak is still done, how soon the rest is refused, and what that
//! costs in memory.
//!
//! Server and generator have half of the processors each: sharing all of them, the generator could ask for little more than
//! is served.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::Scenario;
use crate::affinity::SplitCores;
use crate::cli::Options;
use crate::client::Request;
use crate::open_loop::{OpenLoop, OpenTurn};
use crate::report::{Figure, Goal, Row};
use crate::samples::{Samples, median};
use crate::site::{FullestBoard, Scratch, caught_up};

/// More than the server works on at a time: what it does not refuse would otherwise wait in the generator.
const CONNECTIONS: u32 = 8_192;
/// Where the search for the peak begins, and how fast it climbs.
const FIRST_RATE: f64 = 2_000.0;
const STEP: f64 = 1.15;
/// A rate can be served if this share of what is asked for is answered well.
const SERVED: f64 = 0.97;
/// How far past the peak.
const OVERLOAD: f64 = 3.0;
const ARTICLES: u32 = 2_000;
/// Articles that are read and written to.
const READ: u32 = 200;
/// Writes are refused first; so many of those at the peak must still get through.
const WRITES_MIN: f64 = 0.2;
/// A refusal that takes longer is not quick.
const REFUSAL_MAX_MS: f64 = 250.0;
/// What may be resident at most, whatever is asked.
const RESIDENT_MAX_MB: f64 = 512.0;

/// Finds the peak, then asks for three times that.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site("overload", ARTICLES)?;
    let cores = SplitCores::take()?;
    let server = cores.as_ref().map_or_else(|| site.serve(), |cores| site.serve_on(cores))?;
    caught_up(server.address).await?;
    let board = FullestBoard::find(server.address).await?;
    let articles = board.ids(server.address, READ, 100).await?;
    let load = OpenLoop::new(server.address, CONNECTIONS, mix(&board, &articles, &site.tokens));
    let Peak { rate: peak, written: written_at_peak } = peak(&load, options.turn()).await?;
    let before = server.memory()?;
    let (mut goodputs, mut written, mut refused, mut good) = (Vec::new(), Vec::new(), Samples::new(), Samples::new());
    let (mut due, mut held_back) = (0, 0);
    for round in 1..=options.rounds {
        let turn = load.run(peak * OVERLOAD, options.turn()).await?;
        eprintln!("turn {round}: {}", shown(&turn));
        goodputs.push(turn.goodput());
        written.push(turn.written());
        refused.merge(&turn.refused);
        good.merge(&turn.good);
        due += turn.due;
        held_back += turn.held_back;
    }
    let after = server.memory()?;
    eprintln!("resident: {:.0} MB at the peak, {:.0} MB at most", before.resident_mb, after.peak_mb);
    server.stop().await?;
    let row = |unit, figure, limit, goal| Row::compare(Scenario::Overload, unit, figure, limit, goal);
    let goodput = Figure::median_ms("good answers at 3 × the peak", &good).with_value(median(&goodputs));
    let share = 1.0 - held_back as f64 / due.max(1) as f64;
    Ok(vec![
        row("/s", goodput, Figure::plain("at the peak", peak), Goal::AtLeast(0.8)),
        row(
            "/s",
            Figure::plain("of them writes", median(&written)),
            Figure::plain("at the peak", written_at_peak),
            Goal::AtLeast(WRITES_MIN),
        ),
        row(
            "ms",
            Figure::tail_ms("p99 of refusals", &refused, 0.99),
            Figure::plain("asked for", REFUSAL_MAX_MS),
            Goal::AtMost(1.0),
        ),
        row(
            "MB",
            Figure::plain("resident at most", after.peak_mb),
            Figure::plain("asked for", RESIDENT_MAX_MB),
            Goal::AtMost(1.0),
        ),
        row("of due", Figure::plain("sent", share), Figure::plain("due", 1.0), Goal::AtLeast(0.9)),
    ])
}

/// The most that is served, with next to nothing refused.
struct Peak {
    rate: f64,
    written: f64,
}

/// Climbs until not all is served, twice in a row: one turn may have had bad luck.
async fn peak(load: &OpenLoop, length: Duration) -> Result<Peak> {
    let (mut rate, mut best, mut missed) = (FIRST_RATE, None, 0);
    while missed < 2 {
        let turn = load.run(rate, length).await?;
        eprintln!("asked for {rate:.0}/s: {}", shown(&turn));
        if turn.goodput() >= SERVED * rate {
            best = Some(Peak { rate: turn.goodput(), written: turn.written() });
            missed = 0;
        } else {
            missed += 1;
        }
        rate *= STEP;
    }
    best.with_context(|| format!("the server cannot do {FIRST_RATE:.0}/s: there is no peak to speak of"))
}

fn shown(turn: &OpenTurn) -> String {
    let ms = |samples: &Samples| samples.quantile(0.99).as_secs_f64() * 1_000.0;
    format!(
        "{:.0}/s good ({:.0} writes, p99 {:.0} ms), {:.0}/s refused (p99 {:.0} ms), {} not sent, {:?}",
        turn.goodput(),
        turn.written(),
        ms(&turn.good),
        turn.refusals(),
        ms(&turn.refused),
        turn.held_back,
        turn.good.errors(),
    )
}

/// What a busy evening looks like: of ten requests six read, one likes, two comment, one writes an article.
fn mix(board: &FullestBoard, articles: &[String], tokens: &[String]) -> Vec<Request> {
    let comment = json!({ "content": "Something short, as people write below an article." }).to_string();
    let article = json!({ "title": "About something", "content": "A paragraph of *text*.\n\n".repeat(8) }).to_string();
    let write = format!("/api/v1/boards/{}/articles", board.board_id);
    let turns = articles.iter().zip(tokens.iter().cycle()).enumerate();
    let ten = turns.flat_map(|(number, (id, token))| {
        let path = format!("/api/v1/articles/{id}");
        let like = if number % 2 == 0 { "PUT" } else { "DELETE" };
        [
            Request::get(&path),
            Request::post(&format!("{path}/comments"), token, &comment),
            Request::get(&format!("{path}/comments")),
            board.page(1, 30),
            Request::post(&write, token, &article),
            Request::get(&path),
            Request::bodiless(like, &format!("{path}/like"), token),
            Request::get(&path),
            Request::post(&format!("{path}/comments"), token, &comment),
            board.page(2 + number as u64 % 10, 30),
        ]
    });
    ten.collect()
}
