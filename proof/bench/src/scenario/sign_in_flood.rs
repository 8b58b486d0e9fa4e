//! A thousand wrong passwords a second: what does somebody notice who reads? Each costs a core for some hundredths of a
//! second if it is looked at, so most must not be.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::Scenario;
use crate::cli::Options;
use crate::client::Request;
use crate::open_loop::OpenLoop;
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;
use crate::site::{FullestBoard, Scratch, caught_up};

const ARTICLES: u32 = 2_000;
const READ: u32 = 200;
const READS_PER_SECOND: f64 = 1_000.0;
const SIGN_INS_PER_SECOND: f64 = 1_000.0;
const CONNECTIONS: u32 = 256;
/// The flood of one turn lasts at least so long.
const FLOOD_MIN: Duration = Duration::from_secs(10);

/// With the limits on and off: reads in quiet and during the flood, by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for limits in ["off", "on"] {
        rows.extend(flood(options, scratch, limits).await?);
    }
    Ok(rows)
}

async fn flood(options: &Options, scratch: &Scratch, limits: &'static str) -> Result<Vec<Row>> {
    let site = scratch.site("sign-in-flood", ARTICLES)?;
    // Readers are many people, whose addresses a proxy tells; the flood comes from a few.
    let server = site.serve_with(&[("MADANG_RATE_LIMIT", limits), ("MADANG_TRUSTED_PROXIES", "127.0.0.1")])?;
    caught_up(server.address).await?;
    let articles = FullestBoard::find(server.address).await?.ids(server.address, READ, 50).await?;
    let reader = |number: usize| format!("10.{}.{}.1", number / 250 % 250, number % 250);
    let reads = articles.iter().cycle().take(READ as usize * 50).enumerate();
    let reads = reads.map(|(number, id)| Request::get_from(&format!("/api/v1/articles/{id}"), &reader(number)));
    let reads = OpenLoop::new(server.address, CONNECTIONS, reads.collect());
    let wrong = (0..1_000).map(|number| {
        let body = json!({ "name": format!("member{number}"), "password": format!("a wrong one, {number}") });
        let from = format!("192.0.2.{}", number % 8);
        Request::post_from("/api/v1/sessions", &from, &body.to_string())
    });
    let sign_ins = OpenLoop::new(server.address, CONNECTIONS, wrong.collect());

    let length = options.turn().max(FLOOD_MIN);
    reads.run(READS_PER_SECOND, options.warm_up()).await?;
    let (mut quiet, mut flooded, mut refused) = (Samples::new(), Samples::new(), Samples::new());
    for round in 1..=options.rounds {
        let alone = reads.run(READS_PER_SECOND, length).await?;
        let flood = sign_ins.run(SIGN_INS_PER_SECOND, length);
        let (beside, flood) = tokio::join!(reads.run(READS_PER_SECOND, length), flood);
        let (beside, flood) = (beside?, flood?);
        let p99 = |samples: &Samples| samples.quantile(0.99).as_secs_f64() * 1_000.0;
        eprintln!(
            "turn {round}, limits {limits}: reads p99 {:.2} ms in quiet, {:.2} ms in the flood; sign-ins: {:.0}/s refused \
             (p99 {:.2} ms), others {:?}",
            p99(&alone.good),
            p99(&beside.good),
            flood.refusals(),
            p99(&flood.refused),
            flood.good.errors(),
        );
        quiet.merge(&alone.good);
        flooded.merge(&beside.good);
        refused.merge(&flood.refused);
    }
    let memory = server.memory()?;
    eprintln!("resident at most: {:.0} MB", memory.peak_mb);
    server.stop().await?;
    let reads = format!("p99 of reads in the flood, limits {limits}");
    Ok(vec![
        Row::compare(
            Scenario::SignInFlood,
            "ms",
            Figure::tail_ms(&reads, &flooded, 0.99),
            Figure::tail_ms("in quiet", &quiet, 0.99),
            Goal::AtMost(2.0),
        ),
        Row::compare(
            Scenario::SignInFlood,
            "ms",
            Figure::tail_ms("p99 of refused sign-ins", &refused, 0.99),
            Figure::plain("asked for", 100.0),
            Goal::AtMost(1.0),
        ),
    ])
}
