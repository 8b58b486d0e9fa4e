//! 512 clients who ask for the same article at the same moment: cold, and when its view count has just expired. How often
//! the owners were asked is read from the server's own counters.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Scenario, get_one};
use crate::cli::Options;
use crate::client::{Connection, Request};
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;
use crate::site::{FullestBoard, Scratch, counter};

const CLIENTS: usize = 512;
/// Articles that are asked for, one after the other.
const ARTICLES: u32 = 10;
/// View counts are fresh for 1 s and kept for 6 s: by now they are old, and still there.
const EXPIRED_MS: u64 = 1_200;
/// Nobody may wait longer at the moment of expiry.
const WAIT_MAX_MS: f64 = 50.0;
const ONCE: Goal = Goal::AtMost(1.0);
/// Loads that had somebody waiting, of articles and of view counts, and those that had not.
const ARTICLE_REBUILDS: &str = r#"madang_read_rebuilds_total{kind="article"}"#;
const VIEW_REBUILDS: &str = r#"madang_read_rebuilds_total{kind="views"}"#;
const VIEW_REFRESHES: &str = r#"madang_read_refreshes_total{kind="views"}"#;

/// Asks for cold articles, waits, and asks for the same ones again.
pub(crate) async fn run(_: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let (name, articles) = get_one::SITE;
    let site = scratch.site(name, articles)?;
    let server = site.serve()?;
    let ids = FullestBoard::find(server.address).await?.ids(server.address, ARTICLES, ARTICLES).await?;
    // Whatever the list of ids brought into the query model is gone with this server.
    server.stop().await?;
    let server = site.serve()?;
    let requests: Vec<_> = ids.iter().map(|id| Request::get(&format!("/api/v1/articles/{id}"))).collect();
    let mut clients = Clients::connect(server.address).await?;

    let cold = clients.ask_for_each(&requests).await?;
    let told = counter(server.address, ARTICLE_REBUILDS).await?;
    let rebuilds = told.with_context(|| format!("the server tells no {ARTICLE_REBUILDS}: has it a query model?"))?;
    let view_loads = counter(server.address, VIEW_REBUILDS).await?.unwrap_or(0.0);
    let refreshes_before = counter(server.address, VIEW_REFRESHES).await?.unwrap_or(0.0);
    tokio::time::sleep(Duration::from_millis(EXPIRED_MS)).await;
    let expired = clients.ask_for_each(&requests).await?;
    let refreshes = counter(server.address, VIEW_REFRESHES).await?.unwrap_or(0.0) - refreshes_before;
    server.stop().await?;

    let loads = |what: &str, loads, goal| {
        let limit = Figure::plain("articles asked for", requests.len() as f64);
        Row::compare(Scenario::Collapse, "", Figure::plain(what, loads), limit, goal)
    };
    // An owner in the same process that has the counts at hand is asked without a load.
    let at_most_one = |loads: f64| if loads > 0.0 { ONCE } else { Goal::None };
    let wait = |what: String, waits, goal| {
        let (figure, limit) = (Figure::tail_ms(&what, waits, 1.0), Figure::plain("limit", WAIT_MAX_MS));
        Row::compare(Scenario::Collapse, "ms", figure, limit, goal)
    };
    Ok(vec![
        loads("rebuilds of cold articles", rebuilds, ONCE),
        loads("loads of their view counts", view_loads, at_most_one(view_loads)),
        loads("refreshes of expired view counts", refreshes, at_most_one(refreshes)),
        wait(format!("longest wait of {CLIENTS} for a cold article"), &cold, Goal::None),
        wait(format!("longest wait of {CLIENTS} at expiry"), &expired, ONCE),
    ])
}

/// Clients that are connected and ask at the same moment.
struct Clients(Vec<Connection>);

impl Clients {
    async fn connect(address: SocketAddr) -> Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let mut client = Connection::open(address).await?;
            ensure!(client.exchange(&Request::get("/healthz")).await?.status == 200, "the server is not well");
            clients.push(client);
        }
        Ok(Self(clients))
    }

    /// All clients ask for one article at once, then for the next.
    async fn ask_for_each(&mut self, requests: &[Request]) -> Result<Samples> {
        let mut waits = Samples::new();
        for request in requests {
            let (go, request) = (Arc::new(Barrier::new(self.0.len())), Arc::new(request.clone()));
            let mut asking = JoinSet::new();
            for mut client in self.0.drain(..) {
                let (go, request) = (go.clone(), request.clone());
                asking.spawn(async move {
                    go.wait().await;
                    let started = Instant::now();
                    let status = client.exchange(&request).await?.status;
                    Ok::<_, crate::client::Broken>((client, status, started.elapsed()))
                });
            }
            for answered in asking.join_all().await {
                let (client, status, waited) = answered?;
                self.0.push(client);
                match status {
                    200 => waits.succeeded(waited),
                    other => waits.failed(format!("status {other}")),
                }
            }
        }
        Ok(waits)
    }
}
