//! Likes of one hot article by 3,000 members: over HTTP, and at the store, both beside one transaction a like. Members like
//! and take it back in turn, so that every request changes a row, a counter and the log.

use std::borrow::Cow;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use madang_sqlite::SqliteLikes;

use super::Scenario;
use super::callers::LikeCallers;
use super::database::{Commits, Database};
use super::population::Population;
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{HttpLoad, Script};
use crate::load::{Side, Turns, by_turns};
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

    let one_each = Database::open(&scratch.folder("likes-one-each")?, Commits::OneEach)?;
    let grouped = Database::open(&scratch.folder("likes-grouped")?, Commits::Grouped)?;
    let [alone, together] = [&one_each, &grouped].map(|Database { db, issuer }| {
        LikeCallers::new(SqliteLikes::new(db.clone()), issuer.clone(), population, callers)
    });
    let sides = [
        http.side("HTTP"),
        Side::new("one transaction each", |length| alone.run(length)),
        Side::new("grouped", |length| together.run(length)),
    ];
    let turns = by_turns(options, sides).await;
    if turns[0].samples.errors().is_empty() {
        ensure_counted(server.address, &path, population.likes_after(&http.sent())).await?;
    }
    for (callers, Database { db, .. }) in [(alone, one_each), (together, grouped)] {
        callers.ensure_counted().await?;
        db.close().await;
    }
    server.stop().await?;
    Ok(rows(&turns))
}

fn rows([http, one_each, grouped]: &[Turns; 3]) -> Vec<Row> {
    let against = |what: &str, figure, limit: &str, of_limit, goal| {
        Row::compare(Scenario::PutLike, "/s", Figure::rate(what, figure), Figure::rate(limit, of_limit), goal)
    };
    let one = "one transaction a like";
    vec![
        against("PUT and DELETE of likes", http, "grouped at the store", grouped, Goal::None),
        against("PUT and DELETE of likes", http, one, one_each, Goal::None),
        against("grouped at the store", grouped, one, one_each, GOAL),
    ]
}

/// A rate of likes that got lost would be worth nothing.
async fn ensure_counted(address: SocketAddr, path: &str, expected: u64) -> Result<()> {
    let state = fetch(address, &Request::get(path)).await?;
    let counted = state["like_count"].as_u64().context("the answer lacks `like_count`")?;
    ensure!(counted == expected, "{expected} likes were given, {counted} are counted");
    Ok(())
}
