//! The first page of an article's comments over HTTP, in both arrangements, against bare axum with a body of the same size.

use anyhow::Result;
use madang_board::CommentMode;
use serde_json::json;

use super::Scenario;
use super::against_bare::one_request;
use super::post_comment::CONTENT;
use super::put_like::PEOPLE;
use crate::cli::Options;
use crate::client::Request;
use crate::report::{Goal, Row};
use crate::site::{Scratch, fetch, new_article, text};

const PAGE_SIZE: usize = 30;
/// Comments on the article, every third a reply: more than a page.
const COMMENTS: usize = 100;

/// Measures one arrangement after the other.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of(PEOPLE.0, PEOPLE.1, PEOPLE.2)?;
    let mut rows = Vec::new();
    for (mode, name) in [(CommentMode::TwoLevel, "two levels"), (CommentMode::Tree, "tree")] {
        let (server, admin) = site.serve_with_admin().await?;
        let article = new_article(server.address, &admin, mode).await?;
        let path = format!("/api/v1/articles/{article}/comments");
        let mut root = None;
        for number in 0..COMMENTS {
            let parent_id = root.as_ref().filter(|_| number % 3 == 2);
            let body = match parent_id {
                Some(parent_id) => json!({ "content": CONTENT, "parent_id": parent_id }),
                None => json!({ "content": CONTENT }),
            };
            let token = &site.tokens[number % site.tokens.len()];
            let written = fetch(server.address, &Request::post(&path, token, &body.to_string())).await?;
            if parent_id.is_none() {
                root = Some(text(&written, "comment_id")?);
            }
        }
        let page = Request::get(&format!("{path}?page=1&page_size={PAGE_SIZE}"));
        let what = format!("GET of {PAGE_SIZE} comments, {name}");
        let line = (Scenario::GetComments, what.as_str(), Goal::None);
        rows.push(one_request(options, scratch, server.address, page, line).await?);
        server.stop().await?;
    }
    Ok(rows)
}
