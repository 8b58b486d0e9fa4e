//! Likes of one hot article by 3,000 members: over HTTP, and at the store in the four ways of counting, all beside one
//! transaction a like. Members like and take it back in turn, so that every request changes a row, a counter and the log.

use std::borrow::Cow;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};

use super::Scenario;
use super::database::Commits;
use super::like_callers::{LikeCallers, Population};
use super::like_ways::Counting;
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{HttpLoad, Script};
use crate::load::{Turns, by_turns};
use crate::report::{Figure, Goal, Row};
use crate::site::{FullestBoard, Scratch, fetch};

/// The site of whatever many members do: its name, its articles, its members.
pub(super) const PEOPLE: (&str, u32, u32) = ("people", 1_000, 3_000);
/// What grouping must win over one transaction a like.
const GOAL: Goal = Goal::AtLeast(4.0);

struct LikeScript {
    population: Population,
    like: Vec<Request>,
    unlike: Vec<Request>,
}

impl Script for LikeScript {
    fn request(&self, connection: usize, sent: u64) -> Cow<'_, Request> {
        let step = self.population.step(connection, sent);
        Cow::Borrowed(if step.likes { &self.like[step.member] } else { &self.unlike[step.member] })
    }
}

/// Measures all of them by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of(PEOPLE.0, PEOPLE.1, PEOPLE.2)?;
    let callers = usize::from(options.connections);
    let population = Population::new(site.tokens.len(), callers)?;
    let server = site.serve()?;
    let article = FullestBoard::find(server.address).await?.newest_article(server.address).await?;
    let path = format!("{article}/like");
    let of_all = |method: &str| site.tokens.iter().map(|token| Request::bodiless(method, &path, token)).collect();
    let script = LikeScript { population, like: of_all("PUT"), unlike: of_all("DELETE") };
    let http = HttpLoad::new(server.address, options.connections, script);

    let at_store = |name: &str, commits, counting| {
        LikeCallers::open(&scratch.folder(&format!("likes-{name}"))?, commits, counting, population, callers)
    };
    let one_each = at_store("one-each", Commits::OneEach, Counting::UpdateInPlace)?;
    let grouped = at_store("grouped", Commits::Grouped, Counting::Grouped)?;
    let in_place = at_store("in-place", Commits::Grouped, Counting::UpdateInPlace)?;
    let for_update = at_store("for-update", Commits::Grouped, Counting::SelectForUpdate)?;
    let optimistic = at_store("optimistic", Commits::Grouped, Counting::Optimistic)?;
    let sides = [
        http.side("HTTP"),
        one_each.side("one transaction each"),
        grouped.side("grouped"),
        in_place.side("in place"),
        for_update.side("for update"),
        optimistic.side("optimistic"),
    ];
    let turns = by_turns(options, sides).await;
    if turns[0].samples.errors().is_empty() {
        ensure_counted(server.address, &path, population.likes_after(&http.sent())).await?;
    }
    for callers in [one_each, grouped, in_place, for_update, optimistic] {
        callers.close().await?;
    }
    server.stop().await?;
    Ok(rows(&turns))
}

fn rows([http, one_each, grouped, in_place, for_update, optimistic]: &[Turns; 6]) -> Vec<Row> {
    let against = |what: &str, figure, limit: &str, of_limit, goal| {
        Row::compare(Scenario::PutLike, "/s", Figure::rate(what, figure), Figure::rate(limit, of_limit), goal)
    };
    let one = "one transaction a like";
    vec![
        against("PUT and DELETE of likes", http, "grouped at the store", grouped, Goal::None),
        against("PUT and DELETE of likes", http, one, one_each, Goal::None),
        against("grouped at the store", grouped, one, one_each, GOAL),
        against("update in place", in_place, one, one_each, Goal::None),
        against("select for update", for_update, one, one_each, Goal::None),
        against("optimistic", optimistic, one, one_each, Goal::None),
    ]
}

/// A rate of likes that got lost would be worth nothing.
async fn ensure_counted(address: SocketAddr, path: &str, expected: u64) -> Result<()> {
    let state = fetch(address, &Request::get(path)).await?;
    let counted = state["like_count"].as_u64().context("the answer lacks `like_count`")?;
    ensure!(counted == expected, "{expected} likes were given, {counted} are counted");
    Ok(())
}
