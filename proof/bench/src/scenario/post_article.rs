//! Writing articles over HTTP, against as many callers writing the same rows with group commit and without HTTP.

use anyhow::{Context, Result};
use madang_article::Article;
use madang_sqlite::SqliteArticles;
use serde_json::{Value, json};

use super::Scenario;
use super::callers::ArticleCallers;
use super::database::{Commits, Database};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::HttpLoad;
use crate::load::{Side, by_turns};
use crate::report::{Figure, Goal, Row};
use crate::site::{FullestBoard, Scratch, fetch};

/// The site is otherwise as good as empty, like the database of the limit.
const ARTICLES: u32 = 1;
/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.5);
const TITLE: &str = "마당에서: notes from last evening's meeting";
/// An ordinary article: some prose, a list, a link.
const CONTENT: &str = "We met at the usual place, and **eleven** people came.\n\n\
    - The lamp by the gate will be mended before the weekend.\n\
    - Whoever borrowed the long ladder is asked to bring it back.\n\
    - 다음 모임은 토요일 저녁 일곱 시입니다.\n\n\
    The full list of errands is on [the board](https://example.org/errands), as always. Please say below which of them \
    you can take, so that nobody does the same thing twice.\n";

/// Measures both by turns, each on a database of its own.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site("writes", ARTICLES)?;
    let server = site.serve()?;
    let board = FullestBoard::find(server.address).await?;
    let path = format!("/api/v1/boards/{}/articles", board.board_id);
    let body = json!({ "title": TITLE, "content": CONTENT }).to_string();
    let requests: Vec<Request> = site.tokens.iter().map(|token| Request::post(&path, token, &body)).collect();
    // The limit writes what the server made of the text, so that both write the same rows.
    let copy = article(fetch(server.address, &requests[0]).await?)?;

    let Database { db, issuer } = Database::open(&scratch.folder("writes-limit")?, Commits::Grouped)?;
    let callers = usize::from(options.connections);
    let at_store = ArticleCallers::on_new_boards(SqliteArticles::new(db.clone()), issuer, 1, callers, copy).await?;
    let load = HttpLoad::new(server.address, options.connections, requests);
    let limit = Side::new("without HTTP", |length| at_store.run(length));
    let [figures, limits] = by_turns(options, [load.side("POST"), limit]).await;
    let row = Row::compare(
        Scenario::PostArticle,
        "/s",
        Figure::rate("POST of an article", &figures),
        Figure::rate(&format!("{callers} callers of the store"), &limits),
        GOAL,
    );
    db.close().await;
    server.stop().await?;
    Ok(vec![row])
}

/// An article as the API answers it; its counts are not the store's.
fn article(answer: Value) -> Result<Article> {
    serde_json::from_value(answer).context("the answer to a POST is no article")
}
