//! Accepts connections and serves them until told to stop. Our own loop, because `axum::serve` has no time-outs and no bound:
//! a client that sends half a request would hold its connection, and the end of the process, for as long as it likes.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::http::BODY_MAX_BYTES;
use super::problem::Problem;

/// How long to wait when no socket can be had, or every connection is busy.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// A body somewhat too large is read to its end before it is refused: a client that is still sending might not hear the
/// answer. One that announces more than this is refused at once.
const DISCARDED_MAX_BYTES: u64 = 4 * BODY_MAX_BYTES as u64;

/// What a client may take from a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time; for one more, the one that is idle for longest is closed.
    pub connections: usize,
    /// How long a connection may take to its next request, whole head included.
    pub idle: Duration,
    /// How long a body may take.
    pub body: Duration,
    /// How long requests in progress may take to finish once the server is to stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        // Half of the file descriptors are left to the program's own connections.
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self {
            connections: usize::try_from(descriptors / 2).unwrap_or(usize::MAX).clamp(1, 1_024),
            idle: Duration::from_secs(15),
            body: Duration::from_secs(10),
            drain: Duration::from_secs(3),
        }
    }
}

/// Serves until `stop` completes, then lets requests in progress finish for a bounded time. Idle connections are closed at once.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let (stopping, stopped) = watch::channel(false);
    // Dropping the set aborts what is left in it: no connection outlives this call.
    let (mut connections, mut activities) = (JoinSet::new(), Vec::<Weak<Activity>>::new());
    let mut stop = pin!(stop);
    'accepting: loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("a connection cannot be accepted: {error}");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        while connections.len() >= limits.connections {
            close_longest_idle(&activities);
            tokio::select! {
                () = &mut stop => break 'accepting,
                _ = connections.join_next() => {}
                () = sleep(ACCEPT_PAUSE) => {}
            }
        }
        activities.retain(|activity| activity.strong_count() > 0);
        let activity = Arc::new(Activity::new());
        activities.push(Arc::downgrade(&activity));
        connections.spawn(connection(stream, router.clone(), limits, activity, stopped.clone()));
    }
    drop(listener);
    stopping.send_replace(true);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if timeout(limits.drain, all_done).await.is_err() {
        tracing::warn!("cut off {} connections that did not finish in {:?}", connections.len(), limits.drain);
    }
}

/// What a connection does at the moment.
struct Activity {
    /// Since when it waits for a request; `None` while it has one.
    idle_since: Mutex<Option<Instant>>,
    close: Notify,
}

impl Activity {
    fn new() -> Self {
        Self { idle_since: Mutex::new(Some(Instant::now())), close: Notify::new() }
    }

    fn idle_since(&self) -> Option<Instant> {
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, idle_since: Option<Instant>) {
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = idle_since;
    }

    /// Returns when the connection has waited for too long, or has to make room, and has no request.
    async fn is_over(&self, idle: Duration) {
        loop {
            let since = self.idle_since();
            tokio::select! {
                () = self.close.notified() => if self.idle_since().is_some() { return },
                () = sleep_until(since.unwrap_or_else(Instant::now) + idle) => {
                    if since.is_some() && self.idle_since() == since {
                        return;
                    }
                }
            }
        }
    }
}

fn close_longest_idle(activities: &[Weak<Activity>]) {
    let idle = activities.iter().filter_map(Weak::upgrade).filter_map(|one| Some((one.idle_since()?, one)));
    if let Some((_, longest)) = idle.min_by_key(|(since, _)| *since) {
        longest.close.notify_one();
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    limits: Limits,
    activity: Arc<Activity>,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(|request: Request<Incoming>| async {
        activity.set(None);
        let response = answer(router.clone(), request, limits.body).await;
        activity.set(Some(Instant::now()));
        Ok::<_, Infallible>(response)
    });
    let mut builder = http1::Builder::new();
    // The time-out of the head is that of the idle connection.
    let mut serving = pin!(builder.header_read_timeout(None).serve_connection(TokioIo::new(stream), service));
    let stop_signal = async { drop(stopped.wait_for(|stopped| *stopped).await) };
    let mut over = pin!(activity.is_over(limits.idle));
    // Resets and garbage are the client's doing.
    tokio::select! {
        biased;
        _ = &mut serving => return,
        () = &mut over => return,
        () = stop_signal => {
            // The library would wait for the rest of a head.
            if activity.idle_since().is_some() {
                return;
            }
            serving.as_mut().graceful_shutdown();
        }
    }
    tokio::select! {
        biased;
        _ = &mut serving => {}
        () = &mut over => {}
    }
}

/// Reads the body, all of which fits into memory, and lets the router answer.
async fn answer(router: Router, request: Request<Incoming>, body_max: Duration) -> Response {
    let (parts, body) = request.into_parts();
    let announced =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let body = match timeout(body_max, read(body, announced.unwrap_or(0))).await {
        Ok(Ok(body)) => body,
        Ok(Err(problem)) => return problem.into_response(),
        Err(_elapsed) => return Problem::TooSlow.into_response(),
    };
    let request = Request::from_parts(parts, Body::from(body));
    let service = TowerToHyperService::new(router);
    match hyper::service::Service::call(&service, request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn read(mut body: Incoming, announced: u64) -> Result<Bytes, Problem> {
    if announced > BODY_MAX_BYTES as u64 {
        if announced <= DISCARDED_MAX_BYTES {
            while let Some(Ok(_)) = body.frame().await {}
        }
        return Err(Problem::TooLarge);
    }
    let collected = Limited::new(body, BODY_MAX_BYTES).collect().await;
    collected.map(|body| body.to_bytes()).map_err(|error| match error.downcast::<LengthLimitError>() {
        Ok(_) => Problem::TooLarge,
        Err(error) => Problem::Malformed(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;

    use super::*;

    /// Far longer than anything takes here, and shorter than what must not be waited for.
    const PATIENCE: Duration = Duration::from_secs(20);
    const NEVER: Duration = Duration::from_secs(3_600);
    const LONG: Limits = Limits { connections: 16, idle: NEVER, body: NEVER, drain: NEVER };
    const SHORT: Duration = Duration::from_millis(200);
    const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

    struct Served {
        address: std::net::SocketAddr,
        stop: oneshot::Sender<()>,
        tasks: JoinSet<()>,
    }

    async fn served(limits: Limits) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let router = Router::new()
            .route("/health", get(|| async { "ok" }))
            .route("/echo", post(|body: Bytes| async { body }))
            .route("/slow", get(|| async { sleep(SHORT * 2).await }))
            .route("/never", get(std::future::pending::<()>));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { serve(listener, router, limits, async { drop(stopped.await) }).await });
        Served { address, stop, tasks }
    }

    impl Served {
        async fn connect(&self, sent: &str) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            stream
        }

        async fn ended(mut self) {
            let _ = self.stop.send(());
            timeout(PATIENCE, self.tasks.join_next()).await.expect("it did not end").unwrap().unwrap();
        }
    }

    /// Everything until the server closes, which it has to do soon.
    async fn rest(stream: &mut TcpStream) -> String {
        let mut all = Vec::new();
        // A reset is an end as well.
        let _ = timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("the connection stayed open");
        String::from_utf8(all).unwrap()
    }

    #[tokio::test]
    async fn a_connection_without_a_whole_head_is_closed_also_after_a_request() {
        let server = served(Limits { idle: SHORT, ..LONG }).await;
        for sent in ["", "GET /hea", "GET /health HTTP/1.1\r\nhost: x\r\n"] {
            assert_eq!(rest(&mut server.connect(sent).await).await, "", "{sent:?}");
        }
        let mut kept = server.connect("GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(rest(&mut kept).await.ends_with("ok"));
        server.ended().await;
    }

    #[tokio::test]
    async fn a_request_may_take_longer_than_a_connection_may_be_idle() {
        let server = served(Limits { idle: SHORT, ..LONG }).await;
        let mut slow = server.connect("GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(rest(&mut slow).await.starts_with("HTTP/1.1 200"));
        server.ended().await;
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_refused_with_408() {
        let server = served(Limits { body: SHORT, ..LONG }).await;
        let mut half = server.connect("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf").await;
        let answer = rest(&mut half).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("application/problem+json"), "{answer}");
        server.ended().await;
    }

    #[tokio::test]
    async fn a_body_that_announces_too_much_is_refused_before_it_is_sent() {
        let server = served(LONG).await;
        let mut large = server.connect("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 50000000\r\n\r\n").await;
        let answer = rest(&mut large).await;
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("application/problem+json"), "{answer}");
        let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", BODY_MAX_BYTES + 1, "x".repeat(BODY_MAX_BYTES + 1));
        let head = "POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
        let answer = rest(&mut server.connect(&format!("{head}{chunk}")).await).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "also one that does not announce it: {answer}");
        server.ended().await;
    }

    #[tokio::test]
    async fn past_the_bound_the_longest_idle_connection_makes_room() {
        let server = served(Limits { connections: 4, ..LONG }).await;
        let mut idle = Vec::new();
        for _ in 0..8 {
            idle.push(server.connect("GET /hea").await);
        }
        let mut fresh = server.connect(HEALTH).await;
        assert!(rest(&mut fresh).await.ends_with("ok"));
        assert_eq!(rest(&mut idle[0]).await, "");
        server.ended().await;
    }

    #[tokio::test]
    async fn the_end_waits_for_a_slow_client_and_for_a_slow_answer_so_long_and_no_longer() {
        for sent in
            ["GET /hea", "GET /never HTTP/1.1\r\nhost: x\r\n\r\n", "POST /echo HTTP/1.1\r\ncontent-length: 9\r\n\r\n"]
        {
            let server = served(Limits { drain: SHORT, ..LONG }).await;
            let mut client = server.connect(sent).await;
            let mut after = server.connect(HEALTH).await;
            assert!(rest(&mut after).await.ends_with("ok"), "the one before it is accepted");
            server.ended().await;
            rest(&mut client).await;
        }
    }

    #[tokio::test]
    async fn a_request_in_progress_is_answered_before_the_end() {
        let server = served(LONG).await;
        let mut slow = server.connect("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let mut after = server.connect(HEALTH).await;
        assert!(rest(&mut after).await.ends_with("ok"));
        server.ended().await;
        assert!(rest(&mut slow).await.starts_with("HTTP/1.1 200"));
    }
}
