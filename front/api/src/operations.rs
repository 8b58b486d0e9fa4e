//! What operators and orchestrators ask: alive, ready, figures. Outside the bound on requests in flight, because a busy
//! server is not a dead one; and, but for whether it is alive, not for the public.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use madang_server::{OPERATIONS_PATHS, PartState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::state::Operators;
use crate::{ApiError, reply};

/// Whether the process can serve, part by part.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(crate) struct ReadyBody {
    /// Whether the process serves calls; a part that is away need not keep it from that.
    #[schema(example = true)]
    ready: bool,
    /// Each part.
    parts: Vec<PartState>,
}

/// Whether the process is alive, which anybody may know.
pub(crate) fn health() -> Router<Operators> {
    let [health, ..] = OPERATIONS_PATHS;
    Router::new().route(health, get(alive))
}

/// How it is, which tells of its parts and its traffic.
pub(crate) fn watching() -> Router<Operators> {
    let [_, readiness, metrics] = OPERATIONS_PATHS;
    Router::new().route(readiness, get(ready)).route(metrics, get(figures))
}

/// The process is alive.
#[utoipa::path(get, path = "/healthz", operation_id = "read_health", tag = "operations", responses((status = 200, description = "Alive", body = String)))]
pub(crate) async fn alive() -> &'static str {
    "ok"
}

/// Whether the process is ready to serve, and how its parts are.
#[utoipa::path(get, path = "/readyz", operation_id = "read_readiness", tag = "operations", responses(
    (status = 200, description = "The process serves", body = ReadyBody),
    (status = 503, description = "It cannot serve anything", body = ReadyBody),
))]
pub(crate) async fn ready(State(api): State<Operators>) -> Result<Response, ApiError> {
    let parts = api.readiness.parts().await;
    let ready = api.readiness.can_serve(&parts);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut response = reply::json(status, &ReadyBody { ready, parts })?;
    if !ready {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    Ok(response)
}

/// Figures in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", operation_id = "read_metrics", tag = "operations", responses(
    (status = 200, description = "Figures in Prometheus' text format", body = String),
))]
pub(crate) async fn figures(State(api): State<Operators>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], (api.metrics)()).into_response()
}
