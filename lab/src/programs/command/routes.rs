//! The resources of the command program. A handler parses, calls and renders.

use std::fmt::Display;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Commands, store};
use crate::domain::{Amount, Decision, Entry, InvalidAmount, Movement, TxId};
use crate::programs::problem::Problem;
use crate::programs::request::{AccountPath, JsonBody};

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
struct Body<'a> {
    tx_id: String,
    /// Any JSON as it stands, so that a number too large for an account, or for any type, is told apart from a body that cannot
    /// be read.
    #[serde(borrow)]
    amount: &'a RawValue,
}

async fn open(State(commands): State<Commands>, AccountPath(account): AccountPath) -> Result<StatusCode, Problem> {
    store::open(&commands.db, account).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn deposit(
    State(commands): State<Commands>,
    AccountPath(account): AccountPath,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let (tx_id, amount) = parse(&body)?;
    commands.execute(Movement::deposit(tx_id, account, amount)).await
}

async fn withdraw(
    State(commands): State<Commands>,
    AccountPath(account): AccountPath,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let (tx_id, amount) = parse(&body)?;
    commands.execute(Movement::withdrawal(tx_id, account, amount)).await
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

/// The body of a movement.
pub(crate) fn parse(body: &[u8]) -> Result<(TxId, Amount), Problem> {
    let expected =
        |found: &dyn Display| Problem::Malformed(format!("expected {{\"tx_id\": text, \"amount\": number}}: {found}"));
    // Fields in a row, without their names, would be read as well.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(expected(&"this is no object"));
    }
    let Body { tx_id, amount } = serde_json::from_slice(body).map_err(|error| expected(&error))?;
    let amount = amount.get().parse().map_err(|_| InvalidAmount).and_then(Amount::new)?;
    Ok((TxId::new(tx_id)?, amount))
}
