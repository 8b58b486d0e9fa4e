//! Writing comments on one article over HTTP, in both arrangements, against as many callers of the store, and those against
//! one transaction a comment.

use anyhow::{Result, ensure};
use madang_board::CommentMode;
use madang_sqlite::SqliteComments;
use serde_json::json;

use super::Scenario;
use super::callers::CommentCallers;
use super::database::{Commits, Database};
use super::put_like::PEOPLE;
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::HttpLoad;
use crate::load::{Side, by_turns};
use crate::report::{Figure, Goal, Row};
use crate::site::{Scratch, Site, new_article};

/// What is left of the store's rate, at least.
const GOAL: Goal = Goal::AtLeast(0.5);
/// An ordinary comment.
pub(super) const CONTENT: &str =
    "Count me in for the lamp. 사다리는 제가 가지고 있어요, 토요일에 돌려놓겠습니다. Is anybody going by car?";

/// Measures one arrangement after the other.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of(PEOPLE.0, PEOPLE.1, PEOPLE.2)?;
    let mut rows = Vec::new();
    for (mode, name) in [(CommentMode::TwoLevel, "two levels"), (CommentMode::Tree, "tree")] {
        rows.extend(measure(options, scratch, &site, mode, name).await?);
    }
    Ok(rows)
}

async fn measure(
    options: &Options,
    scratch: &Scratch,
    site: &Site<'_>,
    mode: CommentMode,
    name: &str,
) -> Result<Vec<Row>> {
    let (server, admin) = site.serve_with_admin().await?;
    let article = new_article(server.address, &admin, mode).await?;
    let path = format!("/api/v1/articles/{article}/comments");
    let body = json!({ "content": CONTENT }).to_string();
    let requests: Vec<_> = site.tokens.iter().map(|token| Request::post(&path, token, &body)).collect();
    let http = HttpLoad::new(server.address, options.connections, requests);

    let callers = usize::from(options.connections);
    let open = |commits| Database::open(&scratch.folder(&format!("comments-{mode:?}-{commits:?}"))?, commits);
    let (grouped, one_each) = (open(Commits::Grouped)?, open(Commits::OneEach)?);
    let [many, single] = [&grouped, &one_each].map(|Database { db, issuer }| {
        CommentCallers::new(SqliteComments::new(db.clone()), issuer.clone(), callers, mode, CONTENT)
    });
    let sides = [
        http.side("POST"),
        Side::new("without HTTP", |length| many.run(length)),
        Side::new("one transaction each", |length| single.run(length)),
    ];
    let [posted, stored, alone] = by_turns(options, sides).await;
    for (callers, Database { db, .. }) in [(many, grouped), (single, one_each)] {
        ensure!(callers.count().await? > 0, "no comment was written");
        db.close().await;
    }
    server.stop().await?;

    let against = |what: String, figure, limit: String, of_limit, goal| {
        Row::compare(Scenario::PostComment, "/s", Figure::rate(&what, figure), Figure::rate(&limit, of_limit), goal)
    };
    let post = || format!("POST of a comment, {name}");
    let store = format!("{callers} callers of the store");
    let one = || "one transaction a comment".to_owned();
    Ok(vec![
        against(post(), &posted, store.clone(), &stored, GOAL),
        against(post(), &posted, one(), &alone, Goal::None),
        against(store, &stored, one(), &alone, Goal::None),
    ])
}
