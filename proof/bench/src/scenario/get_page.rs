//! The page of a hot article as browsers get it, against bare axum answering a constant body of the same size; both
//! uncompressed, and the page compressed as well.

use anyhow::Result;
use madang_board::CommentMode;
use serde_json::json;

use super::Scenario;
use super::against_bare::{AgainstBare, body_bytes};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{Expect, HttpLoad};
use crate::report::{Goal, Row};
use crate::site::{Scratch, fetch, new_article};

/// The site this scenario shares with `put-like`.
use super::put_like::PEOPLE;

/// As many as the first step shows.
const COMMENTS: usize = 30;
const CONTENT: &str = "A comment of ordinary length, which says a thing or two about the article above it.";
/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.3);

/// Measures the page as it is, then compressed.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of(PEOPLE.0, PEOPLE.1, PEOPLE.2)?;
    let (server, admin) = site.serve_with_admin().await?;
    let article = new_article(server.address, &admin, CommentMode::TwoLevel).await?;
    let comment = json!({ "content": CONTENT }).to_string();
    for number in 0..COMMENTS {
        let token = &site.tokens[number % site.tokens.len()];
        fetch(server.address, &Request::post(&format!("/api/v1/articles/{article}/comments"), token, &comment)).await?;
    }
    let path = format!("/articles/{article}");
    let mut rows = Vec::new();
    for (what, page, goal) in [
        ("page of a hot article", Request::get(&path), GOAL),
        ("the same as gzip", Request::get_gzip(&path), Goal::None),
    ] {
        let body_bytes = body_bytes(server.address, &page).await?;
        // Its count of views may get a digit more meanwhile, and gzip then another length.
        let load = HttpLoad::new(server.address, options.connections, vec![page]).expecting(Expect::Any);
        let line = AgainstBare { scenario: Scenario::GetPage, what, goal, body_bytes };
        rows.push(line.run(options, scratch, &load).await?);
    }
    server.stop().await?;
    Ok(rows)
}
