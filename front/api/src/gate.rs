//! What every request passes through, in one layer: a bound on requests in flight, a time-out, panics turned into
//! answers, security headers and measurements. One layer instead of five, because each costs every request.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tower::{Layer, Service};

use crate::limits::Decision;
use crate::meters::{Meters, RouteMeter};
use crate::{ApiError, Limiter, TrustedProxies};

/// Requests slower than this are worth a line in the log.
const SLOW_MS: u128 = 1_000;
/// Answers to who is not known, may not, or asks too often.
const REFUSALS: [StatusCode; 3] = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::TOO_MANY_REQUESTS];

const API_CSP: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const DENY: HeaderValue = HeaderValue::from_static("DENY");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");

/// The layer.
#[derive(Clone)]
pub(crate) struct Gate(Arc<GateState>);

struct GateState {
    in_flight: AtomicUsize,
    in_flight_max: usize,
    timeout: Duration,
    meters: Arc<Meters>,
    /// How often an address may ask, and whose word about it counts.
    limiter: Option<(Limiter, TrustedProxies)>,
}

impl Gate {
    /// A gate that lets `in_flight_max` requests through at a time.
    pub(crate) fn new(in_flight_max: usize, timeout: Duration, meters: Arc<Meters>) -> Self {
        Self::limited(in_flight_max, timeout, meters, None)
    }

    /// The same that also counts how often an address asks.
    pub(crate) fn limited(
        in_flight_max: usize,
        timeout: Duration,
        meters: Arc<Meters>,
        limiter: Option<(Limiter, TrustedProxies)>,
    ) -> Self {
        Self(Arc::new(GateState { in_flight: AtomicUsize::new(0), in_flight_max, timeout, meters, limiter }))
    }
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { inner, gate: self.0.clone() }
    }
}

/// A service behind the gate.
#[derive(Clone)]
pub(crate) struct Gated<S> {
    inner: S,
    gate: Arc<GateState>,
}

impl<S> Service<Request> for Gated<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let started = Instant::now();
        let gate = self.gate.clone();
        let method = request.method().clone();
        let matched = request.extensions().get::<MatchedPath>().cloned();
        let route = matched.as_ref().map(MatchedPath::as_str);
        let decided =
            gate.limiter.as_ref().map(|(limiter, trusted)| (limiter, limiter.decide(&request, route, trusted)));
        let asked = match decided {
            None | Some((_, Decision::Admitted)) => None,
            Some((limiter, Decision::Ask(asked))) => Some((limiter.clone(), asked)),
            Some((_, Decision::Refused(error))) => {
                let response = finish(error.into_response(), &method, gate.meters.of(route), started);
                return Box::pin(std::future::ready(Ok(response)));
            }
        };
        let Some(place) = Place::take(&gate) else {
            return Box::pin(std::future::ready(Ok(refuse(&gate, &method, matched.as_ref(), started))));
        };
        let Some((limiter, asked)) = asked else {
            let work = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
            return Box::pin(answer(gate, place, work, method, matched, started));
        };
        let mut inner = self.inner.clone();
        Box::pin(async move {
            if let Err(error) = limiter.ask(asked).await {
                let meter = gate.meters.of(matched.as_ref().map(MatchedPath::as_str));
                return Ok(finish(error.into_response(), &method, meter, started));
            }
            let work = AssertUnwindSafe(inner.call(request)).catch_unwind();
            answer(gate, place, work, method, matched, started).await
        })
    }
}

/// Waits for the work, as long as it may take, and makes an answer of whatever becomes of it.
async fn answer(
    gate: Arc<GateState>,
    place: Place,
    work: impl Future<Output = Result<Result<Response, Infallible>, Box<dyn Any + Send>>> + Send,
    method: Method,
    matched: Option<MatchedPath>,
    started: Instant,
) -> Result<Response, Infallible> {
    let mut work = pin!(work);
    // Most answers are there at once, and need no clock to wait by.
    let outcome = match futures_util::poll!(work.as_mut()) {
        Poll::Ready(outcome) => Ok(outcome),
        Poll::Pending => tokio::time::timeout(gate.timeout, work).await,
    };
    drop(place);
    let meter = gate.meters.of(matched.as_ref().map(MatchedPath::as_str));
    let response = match outcome {
        Ok(Ok(Ok(response))) => response,
        Ok(Ok(Err(never))) => match never {},
        Ok(Err(_panic)) => {
            tracing::error!("a handler of {method} {} panicked", meter.route());
            ApiError::Internal.into_response()
        }
        Err(_elapsed) => ApiError::overloaded(
            "the request took too long and may still take effect: repeat it with the same Idempotency-Key",
        )
        .into_response(),
    };
    Ok(finish(response, &method, meter, started))
}

/// One of the places in flight; given back however the request ends, also when its client goes away.
struct Place(Arc<GateState>);

impl Place {
    fn take(gate: &Arc<GateState>) -> Option<Self> {
        let place = Self(gate.clone());
        // The count may pass the bound for an instant; the refused give theirs back by dropping the place.
        (gate.in_flight.fetch_add(1, Ordering::Relaxed) < gate.in_flight_max).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

fn refuse(gate: &GateState, method: &Method, matched: Option<&MatchedPath>, started: Instant) -> Response {
    gate.meters.shed();
    let response = ApiError::overloaded("too many requests are in flight: try again shortly").into_response();
    finish(response, method, gate.meters.of(matched.map(MatchedPath::as_str)), started)
}

fn finish(mut response: Response, method: &Method, meter: &RouteMeter, started: Instant) -> Response {
    secure(response.headers_mut());
    let took = started.elapsed();
    meter.record(method, response.status(), took);
    if REFUSALS.contains(&response.status()) {
        // Who is refused how often, for whoever looks for an intruder. The address is the proxy's log's to tell.
        tracing::info!(status = response.status().as_u16(), "refused: {method} {}", meter.route());
    }
    if took.as_millis() >= SLOW_MS {
        let (route, status) = (meter.route(), response.status().as_u16());
        tracing::warn!(status, ms = took.as_millis() as u64, "slow: {method} {route}");
    }
    response
}

/// Headers that tell browsers to trust nothing here; pages bring a policy of their own.
fn secure(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.entry(header::REFERRER_POLICY).or_insert(NO_REFERRER);
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(API_CSP);
    headers.entry(CROSS_ORIGIN_RESOURCE_POLICY).or_insert(SAME_ORIGIN);
    headers.entry(header::X_FRAME_OPTIONS).or_insert(DENY);
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    fn gated(in_flight_max: usize, timeout: Duration) -> (Router, Gate) {
        let gate = Gate::new(in_flight_max, timeout, Arc::new(Meters::new([])));
        let router = Router::new()
            .route("/panics", get(async || -> &'static str { panic!("secret") }))
            .route("/hangs", get(async || std::future::pending::<&'static str>().await))
            .route("/works", get(async || "done"));
        (router.layer(gate.clone()), gate)
    }

    async fn status(router: &Router, path: &str) -> StatusCode {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_and_gives_its_place_back() {
        let (router, gate) = gated(1, Duration::from_secs(60));
        assert_eq!(status(&router, "/panics").await, 500);
        assert_eq!(status(&router, "/works").await, 200);
        assert_eq!(gate.0.in_flight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_takes_too_long_ends_with_503() {
        let (router, gate) = gated(1, Duration::from_secs(10));
        assert_eq!(status(&router, "/hangs").await, 503);
        assert_eq!(gate.0.in_flight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_full_gate_refuses_and_a_client_that_leaves_frees_its_place() {
        let (router, gate) = gated(1, Duration::from_secs(60));
        let request = Request::builder().uri("/hangs").body(Body::empty()).unwrap();
        let mut waiting = Box::pin(router.clone().oneshot(request));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(status(&router, "/works").await, 503);
        drop(waiting);
        assert_eq!(gate.0.in_flight.load(Ordering::Relaxed), 0);
        assert_eq!(status(&router, "/works").await, 200);
    }
}
