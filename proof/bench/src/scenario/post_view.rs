//! Views by members over HTTP, against bare axum and against one transaction a view. Two kinds apart: views that count, each
//! of another member and article, and repeated ones of a hot article, which a site has far more of than it counts.

use std::borrow::Cow;

use anyhow::{Result, ensure};
use madang_sqlite::SqliteViews;

use super::Scenario;
use super::callers::ViewCallers;
use super::database::{Commits, Database};
use super::put_like::PEOPLE;
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{Expect, HttpLoad, Script};
use crate::load::{Side, Turns, by_turns};
use crate::report::{Figure, Goal, Row};
use crate::site::{FullestBoard, Scratch};

/// As long as the answer to a view mostly is.
const BODY_BYTES: usize = 33;
const PAGE_SIZE: u32 = 100;

/// Pairs of member and article, none of which comes twice before all have come once.
struct Pairs {
    articles: Vec<String>,
    tokens: Vec<String>,
    connections: usize,
}

impl Script for Pairs {
    fn request(&self, connection: usize, sent: u64) -> Cow<'_, Request> {
        let members_each = self.tokens.len() / self.connections;
        let sent = sent as usize;
        let token = &self.tokens[connection * members_each + sent % members_each];
        let article = &self.articles[(sent / members_each) % self.articles.len()];
        Cow::Owned(view(article, token))
    }
}

fn view(article: &str, token: &str) -> Request {
    Request::bodiless("POST", &format!("/api/v1/articles/{article}/views"), token)
}

/// Measures all of them by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of(PEOPLE.0, PEOPLE.1, PEOPLE.2)?;
    let connections = usize::from(options.connections);
    ensure!(connections <= site.tokens.len(), "{} members are too few", site.tokens.len());
    let server = site.serve()?;
    let board = FullestBoard::find(server.address).await?;
    let mut articles = board.ids(server.address, PEOPLE.1, PAGE_SIZE).await?;
    let hot = articles.remove(0);

    let repeated = site.tokens.iter().map(|token| view(&hot, token)).collect::<Vec<_>>();
    let repeated = HttpLoad::new(server.address, options.connections, repeated);
    let repeated = repeated.expecting(Expect::Text("\"counted\":false"));
    let bare = scratch.bare_server(BODY_BYTES)?;
    let to_bare = vec![Request::bodiless("POST", "/", &site.tokens[0])];
    let limit = HttpLoad::new(bare.address, options.connections, to_bare).expecting(Expect::Bytes(BODY_BYTES));
    let pairs = Pairs { articles, tokens: site.tokens.clone(), connections };
    let counted = HttpLoad::new(server.address, options.connections, pairs);
    let counted = counted.expecting(Expect::Text("\"counted\":true"));
    let Database { db, issuer } = Database::open(&scratch.folder("views-one-each")?, Commits::OneEach)?;
    let one_each = ViewCallers::new(SqliteViews::new(db.clone()), issuer, connections);
    let sides = [
        counted.side("counted"),
        repeated.side("repeated"),
        limit.side("bare axum"),
        Side::new("one transaction each", |length| one_each.run(length)),
    ];
    let turns = by_turns(options, sides).await;
    db.close().await;
    server.stop().await?;
    Ok(rows(&turns))
}

fn rows([counted, repeated, bare, one_each]: &[Turns; 4]) -> Vec<Row> {
    let against = |what: &str, figure, limit: &str, of_limit| {
        Row::compare(Scenario::PostView, "/s", Figure::rate(what, figure), Figure::rate(limit, of_limit), Goal::None)
    };
    let bare_name = format!("bare axum, {BODY_BYTES} bytes");
    vec![
        against("POST of a view that counts", counted, &bare_name, bare),
        against("POST of a view that counts", counted, "one transaction a view", one_each),
        against("POST of a repeated view", repeated, &bare_name, bare),
    ]
}
