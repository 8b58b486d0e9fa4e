//! One process that can be asked: its connections, its circuit, and how many calls to it may be under way.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use madang_kernel::{Clock, REQUEST_ID_HEADER, current_request};
use tokio::sync::Semaphore;

use super::PeerAddress;
use super::breaker::{Breaker, Turned};
use super::failure::Failure;
use crate::metric;
use crate::wire::{ANSWER_BYTES_MAX, FailureBody};

/// How long a call waits for others to the same instance to end.
const PERMIT_WAIT_MS: u64 = 250;
/// A connection is let go before the other end lets it go (10 s), so that few calls meet one that is being closed.
const IDLE_MS: u64 = 5_000;
/// Answers other than a success are short.
const FAILURE_BYTES_MAX: usize = 16 * 1_024;

/// Connections to peers, pooled for each. The pool runs a task for each of them, which ends with the connection, and with
/// the pool.
pub(super) type Connections = Client<HttpConnector, Full<Bytes>>;

/// Connections that give up on connecting after `connect_timeout`.
pub(super) fn connections(connect_timeout: Duration, idle_max: usize) -> Connections {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(connect_timeout));
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_millis(IDLE_MS))
        .pool_max_idle_per_host(idle_max)
        .build(connector)
}

/// What instances share.
pub(super) struct Transport {
    pub(super) connections: Connections,
    pub(super) authorization: HeaderValue,
    pub(super) answer_timeout: Duration,
    pub(super) clock: Arc<dyn Clock>,
}

/// A process that can be asked.
pub(super) struct Instance {
    address: PeerAddress,
    transport: Arc<Transport>,
    permits: Semaphore,
    breaker: Mutex<Breaker>,
}

impl Instance {
    pub(super) fn new(address: PeerAddress, transport: Arc<Transport>, in_flight_max: usize, breaker: Breaker) -> Self {
        metrics::gauge!(metric::OPEN, "peer" => address.to_string()).set(0.0);
        Self { address, transport, permits: Semaphore::new(in_flight_max.max(1)), breaker: Mutex::new(breaker) }
    }

    pub(super) fn address(&self) -> &PeerAddress {
        &self.address
    }

    /// Whether the circuit is open, and how many calls failed in a row.
    pub(super) fn circuit(&self) -> (bool, u32) {
        let breaker = self.breaker();
        (breaker.is_open(), breaker.failures())
    }

    /// Whether a call may be made now; an open circuit lets one try from time to time.
    pub(super) fn admits(&self) -> bool {
        let now = self.transport.clock.now();
        self.breaker().admits(now)
    }

    /// Makes one attempt, within `left` of its call's time.
    pub(super) async fn ask(&self, path: &'static str, question: Bytes, left: Duration) -> Result<Bytes, Failure> {
        let wait = left.min(Duration::from_millis(PERMIT_WAIT_MS));
        let Ok(Ok(_permit)) = tokio::time::timeout(wait, self.permits.acquire()).await else {
            return Err(Failure::Full);
        };
        let limit = left.min(self.transport.answer_timeout);
        let outcome = match tokio::time::timeout(limit, self.attempt(path, question)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Away(format!("no answer within {} ms", limit.as_millis()))),
        };
        self.note(&outcome);
        outcome
    }

    async fn attempt(&self, path: &'static str, question: Bytes) -> Result<Bytes, Failure> {
        let uri = self.address.uri(path).map_err(|error| Failure::Defect(error.to_string()))?;
        let mut request = Request::post(uri)
            .header(header::AUTHORIZATION, self.transport.authorization.clone())
            .header(header::CONTENT_TYPE, "application/json");
        // For whom we ask, if it is for one request: its lines in both logs have the same id.
        if let Some(id) = current_request() {
            request = request.header(REQUEST_ID_HEADER, id.as_str());
        }
        let request = request.body(Full::new(question)).map_err(|error| Failure::Defect(error.to_string()))?;
        let response =
            self.transport.connections.request(request).await.map_err(|error| Failure::Away(chain(&error)))?;
        read(response).await
    }

    fn note(&self, outcome: &Result<Bytes, Failure>) {
        let now = self.transport.clock.now();
        let turned = match outcome {
            Err(failure) if failure.counts_against_instance() => self.breaker().failed(now),
            // Whatever it says, it answered.
            Ok(_) | Err(_) => self.breaker().succeeded(),
        };
        let gauge = || metrics::gauge!(metric::OPEN, "peer" => self.address.to_string());
        match (turned, outcome) {
            (Some(Turned::Open), Err(failure)) => {
                gauge().set(1.0);
                tracing::warn!(peer = %self.address, "peer {} does not respond, not calling it for a while: {}", self.address, failure.reason());
            }
            (Some(Turned::Closed), _) => {
                gauge().set(0.0);
                tracing::info!(peer = %self.address, "peer {} responds again", self.address);
            }
            (Some(Turned::Open), Ok(_)) | (None, _) => {}
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let (head, body) = response.into_parts();
    if head.status == StatusCode::OK {
        return whole(body, ANSWER_BYTES_MAX).await;
    }
    let body = whole(body, FAILURE_BYTES_MAX).await?;
    let failure: Option<FailureBody> = serde_json::from_slice(&body).ok();
    let reason = failure.as_ref().map_or_else(|| format!("answered {}", head.status), |failure| failure.error.clone());
    Err(match head.status {
        StatusCode::UNAUTHORIZED => Failure::Refused,
        StatusCode::NOT_FOUND => Failure::NotServed,
        StatusCode::SERVICE_UNAVAILABLE => {
            let after = failure.and_then(|failure| failure.retry_after_ms).unwrap_or(1_000);
            Failure::Busy { reason, retry_after: Duration::from_millis(after) }
        }
        status => Failure::Defect(format!("{status}: {reason}")),
    })
}

async fn whole(body: Incoming, bytes_max: usize) -> Result<Bytes, Failure> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Failure::Defect(format!("its answer is longer than {bytes_max} bytes")))
        }
        Err(error) => Err(Failure::Away(chain(&*error))),
    }
}

/// An error with its causes: hyper's own texts say only which step failed.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
