//! Small texts made to be a huge page, read over and over by one address: what does somebody notice who reads other pages?

use std::time::Duration;

use anyhow::{Result, ensure};
use madang_board::CommentMode;
use serde_json::json;

use super::Scenario;
use super::put_like::PEOPLE;
use crate::cli::Options;
use crate::client::Request;
use crate::open_loop::OpenLoop;
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;
use crate::site::{Scratch, fetch, new_article};

/// As many as a page shows.
const COMMENTS: usize = 30;
const READS_PER_SECOND: f64 = 200.0;
const READERS: u32 = 32;
/// As many as one address may send.
const ATTACKS_PER_SECOND: f64 = 50.0;
const ATTACKERS: u32 = 8;
/// One turn lasts at least so long: a thousandth of the reads is still two.
const TURN_MIN: Duration = Duration::from_secs(10);

/// Reads of an ordinary page in quiet and during the attack, by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of(PEOPLE.0, PEOPLE.1, PEOPLE.2)?;
    let (server, admin) = site.serve_with_admin().await?;
    let mut pages = Vec::new();
    for text in ["An ordinary comment.".to_owned(), sparse_table(), "www.a.bcdef ".repeat(250)] {
        let article = new_article(server.address, &admin, CommentMode::TwoLevel).await?;
        let comment = json!({ "content": text }).to_string();
        for number in 0..COMMENTS {
            let token = &site.tokens[number % site.tokens.len()];
            let path = format!("/api/v1/articles/{article}/comments");
            fetch(server.address, &Request::post(&path, token, &comment)).await?;
        }
        pages.push(format!("/articles/{article}"));
    }
    let reads = OpenLoop::new(server.address, READERS, vec![Request::get(&pages[0])]);
    let attack = pages[1..].iter().map(|page| Request::get_gzip(page)).collect();
    let attack = OpenLoop::new(server.address, ATTACKERS, attack);

    let length = options.turn().max(TURN_MIN);
    reads.run(READS_PER_SECOND, options.warm_up()).await?;
    let (mut quiet, mut attacked) = (Samples::new(), Samples::new());
    for _ in 0..options.rounds {
        quiet.merge(&reads.run(READS_PER_SECOND, length).await?.good);
        let (beside, _) =
            tokio::try_join!(reads.run(READS_PER_SECOND, length), attack.run(ATTACKS_PER_SECOND, length))?;
        attacked.merge(&beside.good);
        ensure!(beside.refusals() == 0.0, "{:.1} other readers were refused a second", beside.refusals());
    }
    server.stop().await?;
    let compared = |quantile, what: &str, goal| {
        let (during, before) =
            (Figure::tail_ms(what, &attacked, quantile), Figure::tail_ms("in quiet", &quiet, quantile));
        Row::compare(Scenario::PageAttack, "ms", during, before, goal)
    };
    Ok(vec![
        compared(0.5, "median of other readers during the attack", Goal::None),
        compared(0.99, "p99 of other readers during the attack", Goal::AtMost(2.0)),
    ])
}

/// 788 characters; without a bound, 196 KB of HTML.
fn sparse_table() -> String {
    format!("{}\n{}\n{}", "|a".repeat(99), "|-".repeat(99), "a\n".repeat(195))
}
