//! Articles all over a big board, each as often as its popularity says, against bare axum with a body of average size.

use std::borrow::Cow;

use anyhow::{Context, Result, ensure};
use madang_kernel::ArticleId;

use super::against_bare::{AgainstBare, body_bytes};
use super::store::Store;
use super::zipf::{Zipf, scatter};
use super::{Scenario, deep_pages};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{HttpLoad, Script};
use crate::report::{Goal, Row};
use crate::site::{FullestBoard, Scratch, caught_up};

/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.5);
/// Draws whose average body the limit answers with.
const SAMPLE_DRAWS: u64 = 200;
/// Numbers of draws that one connection has to itself.
const DRAWS_PER_CONNECTION: u64 = 1 << 40;

/// Turns before the first that is measured.
const WARM_UP_TURNS: u32 = 3;

/// Which article is asked for is drawn anew each time.
struct Drawn {
    articles: Vec<ArticleId>,
    zipf: Zipf,
}

impl Drawn {
    fn draw(&self, number: u64) -> Request {
        Request::get(&format!("/api/v1/articles/{}", self.articles[self.zipf.rank(scatter(number))]))
    }
}

impl Script for Drawn {
    fn request(&self, connection: usize, sent: u64) -> Cow<'_, Request> {
        Cow::Owned(self.draw(connection as u64 * DRAWS_PER_CONNECTION + sent))
    }
}

/// Measures both by turns.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site(deep_pages::SITE, options.articles)?;
    let server = site.serve()?;
    let board = FullestBoard::find(server.address).await?;
    server.stop().await?;
    let store = Store::open(&site.data)?;
    let mut articles = store.ids(board.board_id.parse().context("the board's id is none")?).await?;
    store.close().await;
    ensure!(articles.len() as u64 == board.article_count, "the board has {} ids", articles.len());
    // The popular ones lie anywhere on the board, not side by side in the file.
    articles.sort_by_key(|article| scatter(madang_kernel::Id::raw(*article) as u64));

    let server = site.serve()?;
    eprintln!("Waiting for the consumer groups to hear of all these articles");
    caught_up(server.address).await?;
    let drawn = Drawn { zipf: Zipf::new(articles.len()), articles };
    let mut bytes = 0;
    for number in 0..SAMPLE_DRAWS {
        bytes += body_bytes(server.address, &drawn.draw(number)).await?;
    }
    let body_bytes = bytes / SAMPLE_DRAWS as usize;
    let what = format!("GET of any of {} articles", board.article_count);
    let load = HttpLoad::new(server.address, options.connections, drawn);
    // What is read in the first seconds finds an empty query model; what is measured is a server that has been running.
    load.run(options.turn() * WARM_UP_TURNS).await;
    let line = AgainstBare { scenario: Scenario::GetZipf, what: &what, goal: GOAL, body_bytes };
    let row = line.run(options, scratch, &load).await?;
    server.stop().await?;
    Ok(vec![row])
}
