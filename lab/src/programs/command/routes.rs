//! The resources of the command program. A handler parses, calls and renders.

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde::Deserialize;
use serde_json::Value;

use super::{Commands, store};
use crate::domain::{AccountId, Amount, Decision, Entry, InvalidAmount, Movement, TxId};
use crate::programs::problem::Problem;

pub(super) fn router(commands: Commands) -> Router {
    Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/accounts/{id}", put(open))
        .route("/accounts/{id}/deposits", post(deposit))
        .route("/accounts/{id}/withdrawals", post(withdraw))
        .with_state(commands)
}

/// The body of a deposit or a withdrawal.
#[derive(Deserialize)]
struct Body {
    tx_id: String,
    /// Any JSON, so that a number too large for an account is told apart from a body that cannot be read.
    amount: Value,
}

async fn open(State(commands): State<Commands>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    store::open(&commands.db, account(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn deposit(
    State(commands): State<Commands>,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let (tx_id, amount) = parse(&body?)?;
    commands.execute(Movement::deposit(tx_id, account(&id)?, amount)).await
}

async fn withdraw(
    State(commands): State<Commands>,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let (tx_id, amount) = parse(&body?)?;
    commands.execute(Movement::withdrawal(tx_id, account(&id)?, amount)).await
}

impl Commands {
    async fn execute(&self, movement: Movement) -> Result<Response, Problem> {
        let (status, entry) = match self.lanes.call(movement).await?? {
            Decision::Entered(entry) => (StatusCode::CREATED, entry),
            Decision::Repeated(entry) => (StatusCode::OK, entry),
        };
        Ok(rendered(status, &entry))
    }
}

/// An entry as an answer.
pub(crate) fn rendered(status: StatusCode, entry: &Entry) -> Response {
    let body = serde_json::to_vec(entry).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// The account of a path.
pub(crate) fn account(id: &str) -> Result<AccountId, Problem> {
    id.parse().map_err(|_| Problem::NotFound("an account is a number from 1 to 65535".to_owned()))
}

/// The body of a movement.
pub(crate) fn parse(body: &[u8]) -> Result<(TxId, Amount), Problem> {
    let expected = |error| Problem::Malformed(format!("expected {{\"tx_id\": text, \"amount\": number}}: {error}"));
    let Body { tx_id, amount } = serde_json::from_slice(body).map_err(expected)?;
    let amount = amount.as_i64().ok_or(InvalidAmount).and_then(Amount::new)?;
    Ok((TxId::new(tx_id)?, amount))
}
