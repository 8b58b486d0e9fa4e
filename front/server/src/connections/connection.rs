//! One connection from its handshake to its end, as HTTP/1.1 or, where TLS agreed on it, as HTTP/2.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;

use axum::Router;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Version, header};
use axum::response::{IntoResponse as _, Response};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics::Counter;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use super::head_timer::HeadTimer;
use super::limits::{ConnectionLimits, HEAD_BYTES_MAX, HEADERS_MAX, READ_BUFFER_BYTES, STREAMS_MAX};
use super::readable_address::readable;
use super::streams::{Activity, RequestTasks};
use super::tls::{Protocol, Tls};
use super::write_timeout::WriteTimeout;
use crate::admission::{DelayShedder, OverloadResponses};
use crate::client_address::Peer;
use crate::request_metrics::shed_counter;
use crate::{OPERATIONS_PATHS, RefusedBy, Rejection};

/// What all connections of a server share.
pub(super) struct Connections {
    requests: Arc<Requests>,
    limits: ConnectionLimits,
    tls: Option<Arc<Tls>>,
    handshakes: Semaphore,
}

/// Where a request goes once its head is read: to the router, unless it is shed.
struct Requests {
    router: Router,
    shedder: DelayShedder,
    overloaded: OverloadResponses,
    shed: Counter,
}

impl Connections {
    pub(super) fn new(router: Router, limits: ConnectionLimits, tls: Option<Arc<Tls>>) -> Self {
        let overloaded = OverloadResponses::new("The server is overloaded. Try again shortly.", tls.is_some());
        let shedder = DelayShedder::new(limits.scheduling_delay);
        let requests = Requests { router, shedder, overloaded, shed: shed_counter() };
        Self { requests: Arc::new(requests), limits, tls, handshakes: Semaphore::new(limits.handshakes) }
    }

    /// Probes the scheduling delay for as long as it is polled.
    pub(super) async fn probe(&self) {
        self.requests.shedder.probe().await;
    }

    pub(super) fn speaks_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Serves a connection until it ends, or until what it has under way when told to stop has ended.
    pub(super) async fn serve(&self, stream: TcpStream, peer: Peer, stopped: watch::Receiver<bool>) {
        let stream = WriteTimeout::socket(stream, self.limits.stall);
        let result = match &self.tls {
            None => self.http1(stream, peer, stopped).await,
            Some(tls) => match self.shake_hands(tls, stream).await {
                Some((stream, Protocol::Http1)) => self.http1(stream, peer, stopped).await,
                Some((stream, Protocol::Http2)) => self.http2(stream, peer, stopped).await,
                None => return,
            },
        };
        // Resets, time-outs and garbage are the client's doing and happen all day.
        if let Err(error) = result {
            tracing::debug!("connection ended: {error}");
        }
    }

    async fn shake_hands<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        tls: &Tls,
        stream: S,
    ) -> Option<(tokio_rustls::server::TlsStream<S>, Protocol)> {
        let Ok(_permit) = self.handshakes.try_acquire() else {
            metrics::counter!("madang_http_connections_refused_total").increment(1);
            RefusedBy::Handshakes.count();
            return None;
        };
        match tokio::time::timeout(self.limits.head, tls.accept(stream)).await {
            Ok(Ok(accepted)) => Some(accepted),
            Ok(Err(error)) => {
                tracing::debug!("a TLS handshake failed: {error}");
                None
            }
            Err(_elapsed) => None,
        }
    }

    async fn http1<S>(&self, stream: S, peer: Peer, stopped: watch::Receiver<bool>) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let service = service_fn(|request: Request<Incoming>| self.requests.route(request, peer));
        let serving = http1::Builder::new()
            .timer(HeadTimer::default())
            .header_read_timeout(self.limits.head)
            .max_headers(HEADERS_MAX)
            .max_buf_size(READ_BUFFER_BYTES)
            .half_close(false)
            .keep_alive(true)
            .serve_connection(TokioIo::new(stream), service);
        let serving = pin!(serving);
        until_done(serving, stop_signal(stopped), http1::Connection::graceful_shutdown).await
    }

    async fn http2<S>(&self, stream: S, peer: Peer, stopped: watch::Receiver<bool>) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let activity = Activity::default();
        let (requests, active) = (self.requests.clone(), activity.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (requests, in_progress) = (requests.clone(), active.begin());
            name_host(&mut request);
            async move { requests.route(request, peer).await.map(|response| in_progress.until_sent(response)) }
        });
        let serving = http2::Builder::new(RequestTasks::default())
            .timer(TokioTimer::new())
            .keep_alive_interval(self.limits.head)
            .keep_alive_timeout(self.limits.head)
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let serving = pin!(serving);
        let ending = async {
            tokio::select! {
                () = stop_signal(stopped) => {}
                () = activity.idle_for(self.limits.head) => {}
            }
        };
        until_done(serving, ending, http2::Connection::graceful_shutdown).await
    }
}

impl Requests {
    async fn route(&self, mut request: Request<Incoming>, peer: Peer) -> Result<Response, Infallible> {
        // Whoever watches over the process must hear from it above all when it has too much to do.
        if self.shedder.sheds(request.method()) && !OPERATIONS_PATHS.contains(&request.uri().path()) {
            self.shed.increment(1);
            RefusedBy::SchedulingDelay.count();
            return Ok(self.overloaded.suiting(request.headers()));
        }
        if !names_one_host(&request) {
            return Ok(Rejection::NoHost.into_response());
        }
        if let Some(readable) = readable(request.uri()) {
            *request.uri_mut() = readable;
        }
        request.extensions_mut().insert(peer);
        self.router.clone().oneshot(request).await
    }
}

/// Whether a request says for which site it is, once (RFC 9112, 3.2). HTTP/1.0 need not say.
fn names_one_host(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => Authority::try_from(host.as_bytes()).is_ok_and(|host| !host.as_str().contains('@')),
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    }
}

/// HTTP/2 has no Host header but names the host in its address; whoever asks where a request was sent to reads the header.
fn name_host(request: &mut Request<Incoming>) {
    let host = request.uri().authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
}

async fn stop_signal(mut stopped: watch::Receiver<bool>) {
    // The guard that `wait_for` gives back must not live on beside the connection.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

async fn until_done<C>(
    mut serving: Pin<&mut C>,
    ending: impl Future<Output = ()>,
    let_finish: impl FnOnce(Pin<&mut C>),
) -> hyper::Result<()>
where
    C: Future<Output = hyper::Result<()>>,
{
    tokio::select! {
        biased;
        result = &mut serving => result,
        () = ending => {
            let_finish(serving.as_mut());
            serving.await
        }
    }
}
