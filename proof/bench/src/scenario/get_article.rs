//! One article over HTTP, against bare axum answering a constant body of the same size.

use anyhow::Result;

use super::Scenario;
use super::against_bare::{AgainstBare, body_bytes};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{Expect, HttpLoad};
use crate::report::{Goal, Row};
use crate::site::{FullestBoard, Scratch};

/// The site this scenario shares with `get-board`: more than a page, so that the article is found among others.
pub(super) const SITE: (&str, u32) = ("small", 1_000);
/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.75);

/// Measures both by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site(SITE.0, SITE.1)?;
    let server = site.serve()?;
    let article = FullestBoard::find(server.address).await?.newest_article(server.address).await?;
    let article = Request::get(&article);
    let body_bytes = body_bytes(server.address, &article).await?;
    let load = HttpLoad::new(server.address, options.connections, vec![article]).expecting(Expect::Bytes(body_bytes));
    let line = AgainstBare { scenario: Scenario::GetArticle, what: "GET of one hot article", goal: GOAL, body_bytes };
    let row = line.run(options, scratch, &load).await?;
    server.stop().await?;
    Ok(vec![row])
}
