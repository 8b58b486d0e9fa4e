//! One article over HTTP, against bare axum answering a constant body of the same size.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;

use crate::cli::{Options, Scenario};
use crate::client::{Connection, Request};
use crate::load::{HttpLoad, Turns};
use crate::report::{Figure, Goal, Row};
use crate::site::{FullestBoard, Scratch};

/// More than a page, so that the article is found among others.
const ARTICLES: u32 = 1_000;
/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.5);

/// Measures both by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site("small", ARTICLES)?;
    let server = site.serve()?;
    let article = FullestBoard::find(server.address).await?.newest_article(server.address).await?;
    let body_bytes = body_bytes(server.address, &article).await?;
    let bare = scratch.bare_server(body_bytes)?;

    let load = |address, request| HttpLoad {
        address,
        requests: Arc::new([request]),
        connections: options.connections.into(),
        body_bytes: Some(body_bytes),
    };
    let ours = load(server.address, article);
    let limit = load(bare.address, Request::get("/"));
    let (figure, limit) = by_turns(options, &ours, &limit).await;
    let limit_name = format!("bare axum, {body_bytes} bytes");
    let figure = Figure::rate("GET of one article", &figure);
    let row = Row::compare(Scenario::GetArticle, "/s", figure, Figure::rate(&limit_name, &limit), GOAL);
    server.stop().await?;
    Ok(vec![row])
}

async fn by_turns(options: &Options, ours: &HttpLoad, limit: &HttpLoad) -> (Turns, Turns) {
    ours.run(options.warm_up()).await;
    limit.run(options.warm_up()).await;
    let (mut figures, mut limits) = (Turns::new(), Turns::new());
    for round in 1..=options.rounds {
        let (figure, limit) = (ours.run(options.turn()).await, limit.run(options.turn()).await);
        eprintln!("turn {round}: {:.0}/s, limit {:.0}/s", figure.rate, limit.rate);
        figures.add(&figure);
        limits.add(&limit);
    }
    (figures, limits)
}

async fn body_bytes(address: SocketAddr, article: &Request) -> Result<usize> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(article).await?;
    anyhow::ensure!(answer.status == 200, "the article answers {}", answer.status);
    Ok(answer.body.len())
}
