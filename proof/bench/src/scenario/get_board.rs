//! The first page of a board over HTTP, against bare axum answering a constant body of the same size.

use anyhow::Result;

use super::against_bare::{AgainstBare, body_bytes};
use super::{Scenario, get_article};
use crate::cli::Options;
use crate::http_load::{Expect, HttpLoad};
use crate::report::{Goal, Row};
use crate::site::{FullestBoard, Scratch};

const PAGE_SIZE: u32 = 30;
/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.5);

/// Measures both by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let (name, articles) = get_article::SITE;
    let site = scratch.site(name, articles)?;
    let server = site.serve()?;
    let page = FullestBoard::find(server.address).await?.page(1, PAGE_SIZE);
    let body_bytes = body_bytes(server.address, &page).await?;
    let load = HttpLoad::new(server.address, options.connections, vec![page]).expecting(Expect::Bytes(body_bytes));
    let line =
        AgainstBare { scenario: Scenario::GetBoard, what: "GET of a board's first page", goal: GOAL, body_bytes };
    let row = line.run(options, scratch, &load).await?;
    server.stop().await?;
    Ok(vec![row])
}
