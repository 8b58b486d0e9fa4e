//! Who may ask, how many at once, and for how long.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use madang_kernel::{REQUEST_ID_HEADER, RequestId, RequestScope};
use tokio::sync::Semaphore;

use super::reply::Refusal;
use crate::{InternalSecret, metric};

/// Calls of peers worked on at the same time; more are refused at once.
const IN_FLIGHT_MAX: usize = 512;
/// Longer than any peer waits for an answer; what is still under way then has nobody to tell.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// What stands before every internal call.
pub(super) struct Guard {
    secret: InternalSecret,
    permits: Semaphore,
}

impl Guard {
    pub(super) fn new(secret: InternalSecret) -> Self {
        Self { secret, permits: Semaphore::new(IN_FLIGHT_MAX) }
    }
}

pub(super) async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if !guard.secret.admits(request.headers().get(header::AUTHORIZATION)) {
        metrics::counter!(metric::REFUSED).increment(1);
        // Whoever asked says so, once; a stranger must not fill our log.
        tracing::debug!("refused an internal call that does not know the secret");
        return Refusal::NoSecret.into_response();
    }
    let Ok(_permit) = guard.permits.try_acquire() else {
        return Refusal::busy("too many internal calls at once").into_response();
    };
    let id = request.headers().get(REQUEST_ID_HEADER).and_then(|id| RequestId::parse(id.as_bytes()));
    let work = tokio::time::timeout(ANSWER_TIMEOUT, next.run(request));
    let worked = match id {
        Some(id) => RequestScope::new(id).around(work).await,
        None => work.await,
    };
    worked.unwrap_or_else(|_| Refusal::busy("took too long").into_response())
}
