//! A read over HTTP beside bare axum with a body of the same size: what the product itself costs.

use std::net::SocketAddr;

use anyhow::{Result, ensure};

use super::Scenario;
use crate::cli::Options;
use crate::client::{Connection, Request};
use crate::http_load::{Expect, HttpLoad};
use crate::load::by_turns;
use crate::report::{Figure, Goal, Row};
use crate::site::Scratch;

/// One line of such a comparison.
pub(super) struct AgainstBare<'a> {
    pub(super) scenario: Scenario,
    pub(super) what: &'a str,
    pub(super) goal: Goal,
    /// The length of bare axum's body.
    pub(super) body_bytes: usize,
}

impl AgainstBare<'_> {
    /// Measures both by turns.
    pub(super) async fn run(self, options: &Options, scratch: &Scratch, load: &HttpLoad) -> Result<Row> {
        let bare = scratch.bare_server(self.body_bytes)?;
        let limit = load.to(bare.address).expecting(Expect::Bytes(self.body_bytes));
        let [figure, limit] = by_turns(options, [load.side(self.what), limit.side("bare axum")]).await;
        let limit_name = format!("bare axum, {} bytes", self.body_bytes);
        let (figure, limit) = (Figure::rate(self.what, &figure), Figure::rate(&limit_name, &limit));
        Ok(Row::compare(self.scenario, "/s", figure, limit, self.goal))
    }
}

/// One request over and over, all of whose answers have the same length.
pub(super) async fn one_request(
    options: &Options,
    scratch: &Scratch,
    address: SocketAddr,
    request: Request,
    (scenario, what, goal): (Scenario, &str, Goal),
) -> Result<Row> {
    let body_bytes = body_bytes(address, &request).await?;
    let load = HttpLoad::new(address, options.connections, vec![request]).expecting(Expect::Bytes(body_bytes));
    AgainstBare { scenario, what, goal, body_bytes }.run(options, scratch, &load).await
}

/// The length of the body that answers a request.
pub(super) async fn body_bytes(address: SocketAddr, request: &Request) -> Result<usize> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(request).await?;
    ensure!(answer.status == 200, "the request is answered by {}", answer.status);
    Ok(answer.body.len())
}
