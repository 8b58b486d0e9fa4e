//! What every request passes through, in one layer: a bound on requests in flight, time-outs for the whole and for its
//! body, panics turned into answers, security headers and measurements. One layer instead of five, because each costs
//! every request.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tower::{Layer, Service};

use crate::busy::ReadyRefusal;
use crate::limits::Decision;
use crate::meters::{Meters, RouteMeter};
use crate::paced::{Arrival, GivenUp, Load, Paced};
use crate::{ApiError, Limiter, TrustedProxies};

/// Requests slower than this are worth a line in the log.
const SLOW_MS: u128 = 1_000;
/// Of so many places, one is for reads alone.
const READS_SHARE: usize = 4;
/// Answers to who is not known or may not. Who asks too often is counted and gets no line: a flood must not fill a disk.
const REFUSALS: [StatusCode; 2] = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];

const API_CSP: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const DENY: HeaderValue = HeaderValue::from_static("DENY");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const CLOSE: HeaderValue = HeaderValue::from_static("close");
/// Two years, as browsers ask for; subdomains are not ours to speak for.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=63072000");
/// How long a body may take unless told otherwise.
const BODY_TIMEOUT: Duration = Duration::from_secs(8);

/// The layer.
#[derive(Clone)]
pub(crate) struct Gate(Arc<GateState>);

#[derive(Clone)]
struct GateState {
    load: Arc<Load>,
    in_flight_max: usize,
    timeout: Duration,
    body_timeout: Duration,
    /// Whether browsers are told to come by TLS only.
    hsts: bool,
    meters: Arc<Meters>,
    /// The answer when there is no place.
    full: Arc<ReadyRefusal>,
    /// How often an address may ask, and whose word about it counts.
    limiter: Option<(Limiter, TrustedProxies)>,
}

impl Gate {
    /// A gate that lets `in_flight_max` requests through at a time.
    pub(crate) fn new(in_flight_max: usize, timeout: Duration, meters: Arc<Meters>) -> Self {
        let load = Arc::default();
        let full = Arc::new(ReadyRefusal::new("too many requests are in flight: try again shortly", false));
        let (body_timeout, hsts, limiter) = (BODY_TIMEOUT, false, None);
        Self(Arc::new(GateState { load, in_flight_max, timeout, body_timeout, hsts, meters, full, limiter }))
    }

    /// The same that also counts how often an address asks.
    pub(crate) fn limited(self, limiter: Option<(Limiter, TrustedProxies)>) -> Self {
        Self(Arc::new(GateState { limiter, ..(*self.0).clone() }))
    }

    /// The same with another time-out for bodies, and with or without a word to browsers about TLS.
    pub(crate) fn with(self, body_timeout: Duration, hsts: bool) -> Self {
        Self(Arc::new(GateState { body_timeout, hsts, ..(*self.0).clone() }))
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
                let response = finish(&gate, error.into_response(), &method, gate.meters.of(route), started);
                return Box::pin(std::future::ready(Ok(response)));
            }
        };
        let Some(place) = Place::take(&gate, &method) else {
            gate.meters.shed();
            let response = finish(&gate, gate.full.give(request.headers()), &method, gate.meters.of(route), started);
            return Box::pin(std::future::ready(Ok(response)));
        };
        let version = request.version();
        let (request, arrival) = paced(&gate, request);
        let underway = Underway { gate, place, method, version, matched, arrival, started };
        let Some((limiter, asked)) = asked else {
            let work = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
            return Box::pin(underway.answer(work));
        };
        let mut inner = self.inner.clone();
        Box::pin(async move {
            if let Err(error) = limiter.ask(asked).await {
                return Ok(underway.finish(error.into_response()));
            }
            let work = AssertUnwindSafe(inner.call(request)).catch_unwind();
            underway.answer(work).await
        })
    }
}

/// A request that was let in, and what its answer needs to know of it.
struct Underway {
    gate: Arc<GateState>,
    place: Place,
    method: Method,
    version: Version,
    matched: Option<MatchedPath>,
    arrival: Option<Arrival>,
    started: Instant,
}

impl Underway {
    /// Waits for the work, as long as it may take, and makes an answer of whatever becomes of it.
    async fn answer(
        self,
        work: impl Future<Output = Result<Result<Response, Infallible>, Box<dyn Any + Send>>> + Send,
    ) -> Result<Response, Infallible> {
        let mut work = pin!(work);
        // Most answers are there at once, and need no clock to wait by.
        let outcome = match futures_util::poll!(work.as_mut()) {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => tokio::time::timeout(self.gate.timeout, work).await,
        };
        let given_up = self.arrival.as_ref().and_then(Arrival::given_up);
        let response = match outcome {
            _ if given_up.is_some() => no_body(given_up, self.version),
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(_panic)) => {
                tracing::error!("a handler of {} {} panicked", self.method, self.meter().route());
                ApiError::Internal.into_response()
            }
            Err(_elapsed) => ApiError::overloaded(
                "the request took too long and may still take effect: repeat it with the same Idempotency-Key",
            )
            .into_response(),
        };
        Ok(self.finish(response))
    }

    fn finish(self, response: Response) -> Response {
        // Before the answer is measured: its place is free for the next one.
        drop(self.place);
        let meter = self.gate.meters.of(self.matched.as_ref().map(MatchedPath::as_str));
        finish(&self.gate, response, &self.method, meter, self.started)
    }

    fn meter(&self) -> &RouteMeter {
        self.gate.meters.of(self.matched.as_ref().map(MatchedPath::as_str))
    }
}

/// A request whose body, if it has one, must arrive in time.
fn paced(gate: &Arc<GateState>, request: Request) -> (Request, Option<Arrival>) {
    if request.body().is_end_stream() {
        return (request, None);
    }
    let arrival = Arrival::default();
    let (load, told) = (gate.load.clone(), arrival.clone());
    let paced = |body| Body::new(Paced::new(body, load, gate.in_flight_max, gate.body_timeout, told));
    (request.map(paced), Some(arrival))
}

/// The answer to a request whose body did not come. What is left of it may still arrive, so the connection ends here.
fn no_body(given_up: Option<GivenUp>, version: Version) -> Response {
    let error = match given_up {
        Some(GivenUp::TooMany) => ApiError::overloaded("too many bodies are on their way: try again shortly"),
        Some(GivenUp::TooSlow) | None => ApiError::TooSlow,
    };
    let mut response = error.into_response();
    if version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, CLOSE);
    }
    response
}

/// One of the places in flight; given back however the request ends, also when its client goes away.
struct Place(Arc<GateState>);

impl Place {
    fn take(gate: &Arc<GateState>, method: &Method) -> Option<Self> {
        let place = Self(gate.clone());
        let max = if method.is_safe() { gate.in_flight_max } else { writes_max(gate.in_flight_max) };
        // The count may pass the bound for an instant; the refused give theirs back by dropping the place.
        (gate.load.working.fetch_add(1, Ordering::Relaxed) < max).then_some(place)
    }
}

/// How many may be in flight for a write to be let in: when a disk stalls, writes wait for it, and whoever reads what is in
/// memory anyway must still find a place.
fn writes_max(in_flight_max: usize) -> usize {
    in_flight_max - in_flight_max / READS_SHARE
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.load.working.fetch_sub(1, Ordering::Relaxed);
    }
}

fn finish(gate: &GateState, mut response: Response, method: &Method, meter: &RouteMeter, started: Instant) -> Response {
    secure(response.headers_mut(), gate.hsts);
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

/// Headers that tell browsers to trust nothing here, and with `hsts` to come by TLS only; pages bring a policy of their own.
pub(crate) fn secure(headers: &mut HeaderMap, hsts: bool) {
    if hsts {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.entry(header::REFERRER_POLICY).or_insert(NO_REFERRER);
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(API_CSP);
    headers.entry(CROSS_ORIGIN_RESOURCE_POLICY).or_insert(SAME_ORIGIN);
    headers.entry(header::X_FRAME_OPTIONS).or_insert(DENY);
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::{any, get};
    use tower::ServiceExt;

    use super::*;

    fn gated(in_flight_max: usize, timeout: Duration) -> (Router, Gate) {
        let gate = Gate::new(in_flight_max, timeout, Arc::new(Meters::new([])));
        let router = Router::new()
            .route("/panics", get(async || -> &'static str { panic!("secret") }))
            .route("/hangs", any(async || std::future::pending::<&'static str>().await))
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
        assert_eq!(gate.0.load.working.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_takes_too_long_ends_with_503() {
        let (router, gate) = gated(1, Duration::from_secs(10));
        assert_eq!(status(&router, "/hangs").await, 503);
        assert_eq!(gate.0.load.working.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn writes_that_wait_leave_places_for_reads() {
        let (router, gate) = gated(4, Duration::from_secs(60));
        let request =
            |method: &str, path: &str| Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let hangs = || Box::pin(router.clone().oneshot(request("POST", "/hangs")));
        let mut waiting = [hangs(), hangs(), hangs()];
        for write in &mut waiting {
            assert!(futures_util::poll!(write).is_pending());
        }
        assert_eq!(hangs().await.unwrap().status(), 503);
        assert_eq!(status(&router, "/works").await, 200);
        drop(waiting);
        assert_eq!(gate.0.load.working.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_full_gate_refuses_and_a_client_that_leaves_frees_its_place() {
        let (router, gate) = gated(1, Duration::from_secs(60));
        let request = Request::builder().uri("/hangs").body(Body::empty()).unwrap();
        let mut waiting = Box::pin(router.clone().oneshot(request));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(status(&router, "/works").await, 503);
        drop(waiting);
        assert_eq!(gate.0.load.working.load(Ordering::Relaxed), 0);
        assert_eq!(status(&router, "/works").await, 200);
    }
}
