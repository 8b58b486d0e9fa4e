//! Articles all over a big board, each as often as its popularity says, against bare axum with a body of average size.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use madang_board::ArticleId;

use super::against_bare::{AgainstBare, body_bytes};
use super::store::Store;
use super::zipf::{Zipf, scatter};
use super::{Scenario, deep_pages};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{HttpLoad, Script};
use crate::report::{Goal, Row};
use crate::site::{FullestBoard, Scratch, caught_up, counter};

/// What is left of the limit, at least.
const GOAL: Goal = Goal::AtLeast(0.5);
/// Draws whose average body the limit answers with.
const SAMPLE_DRAWS: u64 = 200;
/// Numbers of draws that one connection has to itself.
const DRAWS_PER_CONNECTION: u64 = 1 << 40;

/// One turn before the first that is measured; longer than the server takes to tell how much its model holds.
const WARM_UP_TURN: Duration = Duration::from_secs(10);
/// At most so many of them.
const WARM_UP_TURNS_MAX: u32 = 30;
/// The model is full when it holds no more than this of what it held a turn ago.
const GROWING: f64 = 1.02;

/// Which article is asked for is drawn anew each time.
struct Drawn {
    articles: Vec<ArticleId>,
    zipf: Zipf,
}

impl Drawn {
    fn draw(&self, number: u64) -> Request {
        Request::get(&format!("/api/v1/articles/{}", self.articles[self.zipf.rank(number)]))
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
    warm_up(server.address, &load).await?;
    let line = AgainstBare { scenario: Scenario::GetZipf, what: &what, goal: GOAL, body_bytes };
    let row = line.run(options, scratch, &load).await?;
    server.stop().await?;
    Ok(vec![row])
}

/// Reads until the query model holds what it has room for: a server that has been running is measured, not one that just
/// started with an empty model.
async fn warm_up(address: SocketAddr, load: &HttpLoad) -> Result<()> {
    let mut held = 0.0;
    for _ in 0..WARM_UP_TURNS_MAX {
        load.run(WARM_UP_TURN).await;
        let now = counter(address, "madang_read_entries").await?.unwrap_or_default();
        eprintln!("warming up: the query model holds {now} articles");
        if held > 0.0 && now < held * GROWING {
            break;
        }
        held = now;
    }
    Ok(())
}
