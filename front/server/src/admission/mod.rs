//! Admission control: what every request passes through, in one layer. It keeps rate limits and a bound on requests in
//! flight, bounds the time of the whole and of its body, turns panics into answers, adds security headers and measures.
//! One layer instead of five, because each costs every request.

mod overloaded;
mod permit;
mod scheduling_delay;
mod shares;
mod timed_body;

use std::any::Any;
use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method, Version, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use madang_kernel::{RequestId, RequestScope};
use tower::{Layer, Service};

pub(crate) use self::overloaded::OverloadResponses;
use self::permit::Permit;
pub(crate) use self::scheduling_delay::DelayShedder;
use self::timed_body::{BodyOutcome, GivenUp, Load, TimedBody};
use crate::rate_limits::Decision;
use crate::refusal_pages::{RefusalPages, head_for_page, is_call, reject, vary_by_accept};
use crate::request_id::{self, RequestIds};
use crate::request_log::{Answered, RequestLogger};
use crate::security_headers::secure;
use crate::{RefusedBy, Rejection, RequestMetrics, RequestPolicy, client_address};

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The layer.
#[derive(Clone)]
pub struct Admission(Arc<State>);

struct State {
    policy: RequestPolicy,
    load: Arc<Load>,
    metrics: Arc<RequestMetrics>,
    ids: RequestIds,
    log: RequestLogger,
    overloaded: OverloadResponses,
    /// What people get in place of a problem, where there are pages.
    pages: Option<Arc<dyn RefusalPages>>,
}

impl Admission {
    /// Admits requests as the policy says.
    pub fn new(policy: RequestPolicy, metrics: Arc<RequestMetrics>) -> Self {
        Self::with_pages(policy, metrics, None)
    }

    /// The same, with pages for people whose requests are refused.
    pub fn with_pages(
        policy: RequestPolicy,
        metrics: Arc<RequestMetrics>,
        pages: Option<Arc<dyn RefusalPages>>,
    ) -> Self {
        let overloaded =
            OverloadResponses::new("Too many requests are being processed at the moment. Try again shortly.", false);
        let (ids, log) = (RequestIds::default(), RequestLogger::new(policy.request_log));
        Self(Arc::new(State { policy, load: Arc::default(), metrics, ids, log, overloaded, pages }))
    }
}

impl<S> Layer<S> for Admission {
    type Service = Admitting<S>;

    fn layer(&self, inner: S) -> Admitting<S> {
        Admitting { inner, state: self.0.clone() }
    }
}

/// A service behind admission control.
#[derive(Clone)]
pub struct Admitting<S> {
    inner: S,
    state: Arc<State>,
}

impl<S> Service<Request> for Admitting<S>
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
        let state = self.state.clone();
        let asked = Asked::of(&request, &state);
        let limiter = state.policy.limiter.as_ref();
        let decided = limiter.map(|limiter| (limiter, limiter.decide(&request, &state.policy.trusted_proxies)));
        let question = match decided {
            None | Some((_, Decision::Admitted)) => None,
            Some((limiter, Decision::Ask(question))) => Some((limiter.clone(), question)),
            Some((_, Decision::Rejected(rejection))) => {
                let response = reject(state.pages.as_deref(), rejection, request);
                return Box::pin(std::future::ready(Ok(state.finish(response, &asked))));
            }
        };
        let Some(permit) = Permit::acquire(&state.load, state.policy.in_flight, &asked.method) else {
            state.metrics.shed();
            RefusedBy::InFlight.count();
            let asked = Asked { is_shed: true, ..asked };
            let response = state.finish(state.overloaded.suiting(request.headers()), &asked);
            return Box::pin(std::future::ready(Ok(response)));
        };
        let version = request.version();
        let head = head_for_page(state.pages.as_deref(), &request);
        let (request, body) = timed(&state, request);
        let scope = RequestScope::new(asked.id.clone());
        let admitted = Admitted { state, permit, asked, version, head, body };
        let Some((limiter, question)) = question else {
            let work = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
            return Box::pin(scope.around(admitted.respond(work)));
        };
        let mut inner = self.inner.clone();
        Box::pin(scope.around(async move {
            if let Err(rejection) = limiter.ask(question).await {
                let response = reject(admitted.state.pages.as_deref(), rejection, request);
                return Ok(admitted.finish(response));
            }
            let work = AssertUnwindSafe(inner.call(request)).catch_unwind();
            admitted.respond(work).await
        }))
    }
}

/// What figures and the log tell of a request.
struct Asked {
    id: RequestId,
    method: Method,
    matched: Option<MatchedPath>,
    /// Where it comes from; not looked for where nobody is told.
    address: Option<IpAddr>,
    is_shed: bool,
    started: Instant,
}

impl Asked {
    fn of(request: &Request, state: &State) -> Self {
        let started = Instant::now();
        let proxies = &state.policy.trusted_proxies;
        let address = || client_address(request.extensions(), request.headers(), proxies);
        Self {
            id: state.ids.of(request, proxies),
            method: request.method().clone(),
            matched: request.extensions().get::<MatchedPath>().cloned(),
            address: state.log.is_on().then(address),
            is_shed: false,
            started,
        }
    }

    fn route(&self) -> Option<&str> {
        self.matched.as_ref().map(MatchedPath::as_str)
    }
}

/// A request that was admitted, and what its response needs to know of it.
struct Admitted {
    state: Arc<State>,
    permit: Permit,
    asked: Asked,
    version: Version,
    /// Kept where a person waits for a page.
    head: Option<Request>,
    body: Option<BodyOutcome>,
}

impl Admitted {
    /// Waits for the work, as long as it may take, and makes a response of whatever becomes of it.
    async fn respond(
        mut self,
        work: impl Future<Output = Result<Result<Response, Infallible>, Box<dyn Any + Send>>> + Send,
    ) -> Result<Response, Infallible> {
        let mut work = pin!(work);
        // Most responses are there at once, and need no clock to wait by.
        let outcome = match futures_util::poll!(work.as_mut()) {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => tokio::time::timeout(self.state.policy.request_timeout, work).await,
        };
        let given_up = self.body.as_ref().and_then(BodyOutcome::given_up);
        let response = match outcome {
            _ if given_up.is_some() => self.no_body(given_up),
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(_panic)) => {
                let route = self.asked.route().unwrap_or("an unknown route");
                let method = &self.asked.method;
                tracing::error!("the handler of {method} {route} panicked, the request was answered with 500");
                self.reject(Rejection::Internal)
            }
            Err(_elapsed) => {
                RefusedBy::RequestTimeout.count();
                self.reject(Rejection::TimedOut)
            }
        };
        Ok(self.finish(response))
    }

    /// The page of a refusal for a person, the problem for a program. Whatever made the handler panic may make the page
    /// panic as well.
    fn reject(&mut self, rejection: Rejection) -> Response {
        let Some(head) = self.head.take() else { return self.problem(rejection) };
        let page = AssertUnwindSafe(|| reject(self.state.pages.as_deref(), rejection.clone(), head));
        catch_unwind(page).unwrap_or_else(|_panic| self.problem(rejection.clone()))
    }

    /// The problem, which says so where somebody else would get a page.
    fn problem(&self, rejection: Rejection) -> Response {
        let mut response = rejection.into_response();
        if self.state.pages.is_some() && self.asked.route().is_some_and(|route| !is_call(route)) {
            vary_by_accept(response.headers_mut());
        }
        response
    }

    /// The response to a request whose body did not come. What is left of it may still arrive, so the connection ends here.
    fn no_body(&mut self, given_up: Option<GivenUp>) -> Response {
        RefusedBy::Body.count();
        let rejection = match given_up {
            Some(GivenUp::TooMany) => {
                Rejection::overloaded("Too many request bodies are arriving at the moment. Try again shortly.")
            }
            Some(GivenUp::TooSlow) | None => Rejection::TooSlow,
        };
        let mut response = self.reject(rejection);
        if self.version < Version::HTTP_2 {
            response.headers_mut().insert(header::CONNECTION, CLOSE);
        }
        response
    }

    fn finish(self, response: Response) -> Response {
        // Before the response is measured: the permit is free for the next one.
        drop(self.permit);
        self.state.finish(response, &self.asked)
    }
}

/// A request whose body, if it has one, must arrive in time.
fn timed(state: &State, request: Request) -> (Request, Option<BodyOutcome>) {
    if request.body().is_end_stream() {
        return (request, None);
    }
    let outcome = BodyOutcome::default();
    let RequestPolicy { in_flight, body_timeout, .. } = state.policy;
    let timed = |body| TimedBody::new(body, state.load.clone(), in_flight, body_timeout, outcome.clone());
    (request.map(|body| Body::new(timed(body))), Some(outcome))
}

impl State {
    fn finish(&self, mut response: Response, asked: &Asked) -> Response {
        secure(response.headers_mut(), self.policy.hsts);
        request_id::tell(&asked.id, response.headers_mut());
        let Asked { method, address, is_shed, .. } = asked;
        let (metrics, took, status) = (self.metrics.of(asked.route()), asked.started.elapsed(), response.status());
        metrics.record(method, status, took);
        let route = metrics.route();
        self.log.answered(&Answered { method, route, status, took, address: *address, is_shed: *is_shed });
        response
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::{any, get};
    use madang_kernel::current_request;
    use tower::ServiceExt;

    use super::*;

    fn admitting(in_flight: usize, request_timeout: Duration) -> (Router, Arc<Load>) {
        let policy = RequestPolicy { in_flight, request_timeout, ..RequestPolicy::default() };
        let admission = Admission::new(policy, Arc::new(RequestMetrics::new([])));
        let router = Router::new()
            .route("/panics", get(async || -> &'static str { panic!("secret") }))
            .route("/hangs", any(async || std::future::pending::<&'static str>().await))
            .route("/works", get(async || "done"));
        (router.layer(admission.clone()), admission.0.load.clone())
    }

    async fn status(router: &Router, path: &str) -> StatusCode {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_and_gives_its_permit_back() {
        let (router, load) = admitting(1, Duration::from_secs(60));
        assert_eq!(status(&router, "/panics").await, 500);
        assert_eq!(status(&router, "/works").await, 200);
        assert_eq!(load.in_flight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn an_answer_tells_the_id_under_which_its_request_was_worked_on() {
        let admission = Admission::new(RequestPolicy::default(), Arc::new(RequestMetrics::new([])));
        let router = Router::new().route("/id", get(async || current_request().unwrap().to_string())).layer(admission);
        let request = Request::builder().uri("/id").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let told = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let body = axum::body::to_bytes(response.into_body(), 1_024).await.unwrap();
        assert_eq!(told.as_bytes(), body);
        assert_eq!(current_request(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_takes_too_long_ends_with_503() {
        let (router, load) = admitting(1, Duration::from_secs(10));
        assert_eq!(status(&router, "/hangs").await, 503);
        assert_eq!(load.in_flight.load(Ordering::Relaxed), 0);
    }

    /// Pages that say which rejection they are for.
    struct SpokenPages;

    impl RefusalPages for SpokenPages {
        fn rejected(&self, rejection: &Rejection, request: Request) -> Response {
            assert!(request.uri().path() != "/both/panic", "a page that panics too");
            format!("<p>{} {rejection:?}", request.uri().path()).into_response()
        }

        fn not_found(&self, _: Request) -> Response {
            unreachable!("every address of these tests leads somewhere")
        }
    }

    /// What a person, or a program, is told by a router with pages.
    async fn told(path: &str, accept: &str, body: Body) -> (StatusCode, String) {
        let policy = RequestPolicy {
            request_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(8),
            ..RequestPolicy::default()
        };
        let metrics = Arc::new(RequestMetrics::new([]));
        let router = Router::new()
            .route("/panics", get(async || -> &'static str { panic!("secret") }))
            .route("/both/panic", get(async || -> &'static str { panic!("secret") }))
            .route("/hangs", get(async || std::future::pending::<&'static str>().await))
            .route("/reads", any(async |body: axum::body::Bytes| body))
            .layer(Admission::with_pages(policy, metrics, Some(Arc::new(SpokenPages))));
        let request = Request::builder().uri(path).header(header::ACCEPT, accept).body(body).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.headers()[header::VARY], "accept", "{path}");
        let status = response.status();
        let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn people_get_a_page_for_a_panic_a_time_out_and_a_body_that_does_not_come() {
        let never = || Body::from_stream(futures_util::stream::pending::<Result<bytes::Bytes, Infallible>>());
        for (path, body, status, page) in [
            ("/panics", Body::empty(), 500, "<p>/panics Internal"),
            ("/hangs", Body::empty(), 503, "<p>/hangs TimedOut"),
            ("/reads", never(), 408, "<p>/reads TooSlow"),
        ] {
            assert_eq!(
                told(path, "text/html,*/*;q=0.8", body).await,
                (StatusCode::from_u16(status).unwrap(), page.into())
            );
        }
        for (path, body, status) in
            [("/panics", Body::empty(), 500), ("/hangs", Body::empty(), 503), ("/reads", never(), 408)]
        {
            let (found, text) = told(path, "*/*", body).await;
            assert!(found == status && text.starts_with("{\"type\":\"urn:madang:problem:"), "{path}: {found} {text}");
        }
    }

    #[tokio::test]
    async fn a_page_that_panics_as_well_leaves_the_problem() {
        let (status, text) = told("/both/panic", "text/html", Body::empty()).await;
        assert!(status == 500 && text.contains("urn:madang:problem:internal"), "{status} {text}");
    }

    #[tokio::test]
    async fn writes_that_wait_leave_permits_for_reads() {
        let (router, load) = admitting(4, Duration::from_secs(60));
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
        assert_eq!(load.in_flight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn without_a_permit_a_request_is_shed_and_a_client_that_leaves_gives_its_back() {
        let (router, load) = admitting(1, Duration::from_secs(60));
        let request = Request::builder().uri("/hangs").body(Body::empty()).unwrap();
        let mut waiting = Box::pin(router.clone().oneshot(request));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(status(&router, "/works").await, 503);
        drop(waiting);
        assert_eq!(load.in_flight.load(Ordering::Relaxed), 0);
        assert_eq!(status(&router, "/works").await, 200);
    }
}
