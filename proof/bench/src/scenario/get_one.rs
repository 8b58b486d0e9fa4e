//! One article, and the first page of a board, over HTTP, each against bare axum answering a constant body of the same size.

use anyhow::Result;

use super::Scenario;
use super::against_bare::one_request;
use crate::cli::Options;
use crate::client::Request;
use crate::report::{Goal, Row};
use crate::site::{FullestBoard, Scratch};

/// The site that both share with `collapse`: more than a page, so that the article is found among others.
pub(super) const SITE: (&str, u32) = ("small", 1_000);
const PAGE_SIZE: u32 = 30;
/// What is left of the limit, at least.
const ARTICLE_GOAL: Goal = Goal::AtLeast(0.75);
const BOARD_GOAL: Goal = Goal::AtLeast(0.5);

/// Measures reads of one article.
pub(crate) async fn article(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let server = scratch.site(SITE.0, SITE.1)?.serve()?;
    let article = FullestBoard::find(server.address).await?.newest_article(server.address).await?;
    let line = (Scenario::GetArticle, "GET of one hot article", ARTICLE_GOAL);
    let row = one_request(options, scratch, server.address, Request::get(&article), line).await?;
    server.stop().await?;
    Ok(vec![row])
}

/// Measures reads of the first page of a board.
pub(crate) async fn board(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let server = scratch.site(SITE.0, SITE.1)?.serve()?;
    let page = FullestBoard::find(server.address).await?.page(1, PAGE_SIZE);
    let line = (Scenario::GetBoard, "GET of a board's first page", BOARD_GOAL);
    let row = one_request(options, scratch, server.address, page, line).await?;
    server.stop().await?;
    Ok(vec![row])
}
