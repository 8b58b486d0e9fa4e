//! The resources of the query program.

use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;

use super::load::{Balances, Source};
use crate::programs::problem::Problem;
use crate::programs::request::AccountPath;

pub(super) fn router(balances: Balances) -> Router {
    Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/accounts/{id}", get(show))
        .route("/counters", get(counters))
        .with_state(balances)
}

#[derive(Serialize)]
struct Body {
    account_id: u16,
    balance: i64,
    version: u64,
    source: Source,
}

async fn show(State(balances): State<Balances>, AccountPath(id): AccountPath) -> Result<Response, Problem> {
    let found = balances.find(id).await?;
    let (shown, source) = found.ok_or_else(|| Problem::NotFound(format!("nothing is known of account {id}")))?;
    let body = Body { account_id: id.number(), balance: shown.balance, version: shown.version, source };
    Ok(json(&body))
}

async fn counters(State(balances): State<Balances>) -> Response {
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let counters = &balances.counters;
    json(&serde_json::json!({
        "hits": read(&counters.hits),
        "loads": read(&counters.loads),
        "fallbacks": read(&counters.fallbacks),
        "fills_refused": read(&counters.fills_refused),
        "loads_by_account": &*counters.by_account.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
    }))
}

fn json(body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
