//! One process of a cluster over HTTP, each rate beside bare axum with a constant body: what reading and writing cost when
//! everything is behind a network, and all servers share the machine with the load.

use std::borrow::Cow;
use std::net::SocketAddr;

use anyhow::{Result, ensure};
use serde_json::json;

use super::Scenario;
use super::against_bare::{AgainstBare, body_bytes, one_request};
use super::population::Population;
use super::post_comment::CONTENT;
use super::zipf::{Zipf, scatter};
use crate::cli::Options;
use crate::client::Request;
use crate::http_load::{Expect, HttpLoad, Script};
use crate::load::by_turns;
use crate::report::{Figure, Goal, Row};
use crate::site::{FullestBoard, Scratch, caught_up, fetch};

const ARTICLES: u32 = 6_000;
const MEMBERS: u32 = 1_000;
const PAGE_SIZE: u32 = 30;
/// Pages of the board that are asked for its ids.
const IDS_PAGE_SIZE: u32 = 100;
/// Past the newest 1,000 that a list holds: the store is asked.
const DEEP_PAGE: u64 = 100;
/// What the mix consists of, in parts of 10,006: an article, the first page, a like, a comment, an article written.
const MIX: [u64; 5] = [6_380, 3_440, 140, 40, 6];
const MIX_PARTS: u64 = MIX[0] + MIX[1] + MIX[2] + MIX[3] + MIX[4];
/// About as long as the answer to a write that creates nothing.
const SMALL_BODY_BYTES: usize = 33;
/// Numbers of draws that one connection has to itself.
const DRAWS_PER_CONNECTION: u64 = 1 << 40;

/// What is left of the limit, at least.
const ARTICLE_GOAL: Goal = Goal::AtLeast(0.6);
const PAGE_GOAL: Goal = Goal::AtLeast(0.5);
const MIX_GOAL: Goal = Goal::AtLeast(0.4);

const _: () = assert!(DEEP_PAGE * PAGE_SIZE as u64 > 1_000 && DEEP_PAGE * PAGE_SIZE as u64 <= ARTICLES as u64);

/// What the site is asked.
struct Asked {
    articles: Vec<String>,
    zipf: Zipf,
    first_page: Request,
    board_path: String,
    tokens: Vec<String>,
    population: Population,
}

impl Asked {
    fn article(&self, number: u64) -> &str {
        &self.articles[self.zipf.rank(number)]
    }

    fn read(&self, number: u64) -> Request {
        Request::get(&format!("/api/v1/articles/{}", self.article(number)))
    }

    fn like(&self, article: &str, connection: usize, sent: u64) -> Request {
        let step = self.population.step(connection, sent);
        let method = if step.likes { "PUT" } else { "DELETE" };
        Request::bodiless(method, &format!("/api/v1/articles/{article}/like"), &self.tokens[step.member])
    }

    fn comment(&self, article: &str, number: u64) -> Request {
        let body = json!({ "content": CONTENT }).to_string();
        Request::post(&format!("/api/v1/articles/{article}/comments"), self.token(number), &body)
    }

    fn write(&self, number: u64) -> Request {
        let body = json!({ "title": format!("Article {number}"), "content": CONTENT.repeat(5) }).to_string();
        Request::post(&self.board_path, self.token(number), &body)
    }

    fn view(&self, article: &str, number: u64) -> Request {
        Request::bodiless("POST", &format!("/api/v1/articles/{article}/views"), self.token(number))
    }

    fn token(&self, number: u64) -> &str {
        &self.tokens[usize::try_from(number).unwrap_or_default() % self.tokens.len()]
    }
}

/// What a connection does.
#[derive(Clone, Copy)]
enum Work {
    RandomArticle,
    Mix,
    PostArticle,
    PostComment,
    Like,
    View,
}

struct Worker {
    asked: std::sync::Arc<Asked>,
    work: Work,
}

impl Script for Worker {
    fn request(&self, connection: usize, sent: u64) -> Cow<'_, Request> {
        let (asked, number) = (&self.asked, connection as u64 * DRAWS_PER_CONNECTION + sent);
        let hot = &asked.articles[0];
        match self.work {
            Work::RandomArticle => Cow::Owned(asked.read(number)),
            Work::PostArticle => Cow::Owned(asked.write(number)),
            Work::PostComment => Cow::Owned(asked.comment(hot, number)),
            Work::Like => Cow::Owned(asked.like(hot, connection, sent)),
            Work::View => Cow::Owned(asked.view(hot, number)),
            Work::Mix => {
                let part = scatter(number) % MIX_PARTS;
                let ends = [MIX[0], MIX[0] + MIX[1], MIX[0] + MIX[1] + MIX[2], MIX_PARTS - MIX[4]];
                match ends.iter().position(|end| part < *end) {
                    Some(0) => Cow::Owned(asked.read(number)),
                    Some(1) => Cow::Borrowed(&asked.first_page),
                    Some(2) => Cow::Owned(asked.like(asked.article(number), connection, sent)),
                    Some(3) => Cow::Owned(asked.comment(asked.article(number), number)),
                    _ => Cow::Owned(asked.write(number)),
                }
            }
        }
    }
}

/// Fills a site on the servers, starts one process with every role on it, and measures.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let site = scratch.site_of("rates", ARTICLES, MEMBERS)?;
    let server = site.serve()?;
    caught_up(server.address).await?;
    let address = server.address;
    let board = FullestBoard::find(address).await?;
    let mut articles = board.ids(address, ARTICLES, IDS_PAGE_SIZE).await?;
    ensure!(articles.len() > 1_000, "the board has only {} articles", articles.len());
    // The popular ones lie anywhere on the board.
    articles.sort_by_key(|article| scatter(article.parse().unwrap_or_default()));
    let asked = std::sync::Arc::new(Asked {
        zipf: Zipf::new(articles.len()),
        articles,
        first_page: board.page(1, PAGE_SIZE),
        board_path: format!("/api/v1/boards/{}/articles", board.board_id),
        population: Population::new(site.tokens.len(), usize::from(options.connections))?,
        tokens: site.tokens.clone(),
    });
    let measured = Measured { options, scratch, address, asked: &asked };
    let mut rows = measured.reads(&board).await?;
    rows.push(measured.mix().await?);
    for (what, work) in [
        ("like and take back, one article", Work::Like),
        ("POST view of one article", Work::View),
        ("POST comment on one article", Work::PostComment),
        ("POST article", Work::PostArticle),
    ] {
        rows.push(measured.write(what, work).await?);
    }
    server.stop().await?;
    Ok(rows)
}

struct Measured<'a> {
    options: &'a Options,
    scratch: &'a Scratch,
    address: SocketAddr,
    asked: &'a std::sync::Arc<Asked>,
}

impl Measured<'_> {
    fn load(&self, work: Work) -> HttpLoad {
        HttpLoad::new(self.address, self.options.connections, Worker { asked: self.asked.clone(), work })
    }

    async fn reads(&self, board: &FullestBoard) -> Result<Vec<Row>> {
        let one = |request: Request, what: &'static str, goal: Goal| {
            one_request(self.options, self.scratch, self.address, request, (Scenario::ClusterRates, what, goal))
        };
        let hot = Request::get(&format!("/api/v1/articles/{}", self.asked.articles[0]));
        let mut rows = vec![one(hot.clone(), "GET of one hot article", ARTICLE_GOAL).await?];
        let line = AgainstBare {
            scenario: Scenario::ClusterRates,
            what: &format!("GET of any of {} articles", self.asked.articles.len()),
            goal: Goal::None,
            body_bytes: body_bytes(self.address, &hot).await?,
        };
        rows.push(line.run(self.options, self.scratch, &self.load(Work::RandomArticle)).await?);
        rows.push(one(board.page(1, PAGE_SIZE), "GET of a board's first page", PAGE_GOAL).await?);
        rows.push(one(board.page(DEEP_PAGE, PAGE_SIZE), "GET of a deep page, from the store", Goal::None).await?);
        Ok(rows)
    }

    /// The limit answers with as many bytes as the reads of the mix do on average.
    async fn mix(&self) -> Result<Row> {
        let article = body_bytes(self.address, &self.asked.read(1)).await?;
        let page = body_bytes(self.address, &self.asked.first_page).await?;
        let reads = usize::try_from(MIX[0] + MIX[1])?;
        let body_bytes = (article * usize::try_from(MIX[0])? + page * usize::try_from(MIX[1])?) / reads;
        let what = "mix: 64 % articles, 34 % first page, 2 % writes";
        let line = AgainstBare { scenario: Scenario::ClusterRates, what, goal: MIX_GOAL, body_bytes };
        line.run(self.options, self.scratch, &self.load(Work::Mix)).await
    }

    async fn write(&self, what: &str, work: Work) -> Result<Row> {
        let bare = self.scratch.bare_server(SMALL_BODY_BYTES)?;
        let to_bare = vec![Request::bodiless("POST", "/", &self.asked.tokens[0])];
        let limit = HttpLoad::new(bare.address, self.options.connections, to_bare);
        let limit = limit.expecting(Expect::Bytes(SMALL_BODY_BYTES));
        let load = self.load(work);
        let [figure, limit] = by_turns(self.options, [load.side(what), limit.side("bare axum")]).await;
        // What was written is there: a rate of lost writes would be worth nothing.
        fetch(self.address, &Request::get(&format!("/api/v1/articles/{}", self.asked.articles[0]))).await?;
        let limit_name = format!("bare axum, POST, {SMALL_BODY_BYTES} bytes");
        let (figure, limit) = (Figure::rate(what, &figure), Figure::rate(&limit_name, &limit));
        Ok(Row::compare(Scenario::ClusterRates, "/s", figure, limit, Goal::None))
    }
}
