//! One connection from its handshake to its end, as HTTP/1.1 or, where TLS agreed on it, as HTTP/2.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::Response;
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

use super::guarded::Guarded;
use super::lateness::Lateness;
use super::limits::{ConnectionLimits, HEAD_BYTES_MAX, HEADERS_MAX, READ_BUFFER_BYTES, STREAMS_MAX};
use super::sparing_timer::SparingTimer;
use super::streams::{Tasks, Usage};
use super::tls::{Agreed, Tls};
use crate::busy::ReadyRefusal;
use crate::extract::Peer;
use crate::meters::shed_counter;
use crate::operations;

/// What all connections of a door share.
pub(super) struct Connections {
    entry: Arc<Entry>,
    limits: ConnectionLimits,
    tls: Option<Arc<Tls>>,
    handshakes: Semaphore,
}

/// Where a request goes once its head is read: to the router, or back.
struct Entry {
    router: Router,
    lateness: Lateness,
    late: ReadyRefusal,
    refused: Counter,
}

impl Connections {
    pub(super) fn new(router: Router, limits: ConnectionLimits, tls: Option<Arc<Tls>>) -> Self {
        let late = ReadyRefusal::new("there is more to do than can be done: try again shortly", tls.is_some());
        let entry = Entry { router, lateness: Lateness::new(limits.wait), late, refused: shed_counter() };
        Self { entry: Arc::new(entry), limits, tls, handshakes: Semaphore::new(limits.handshakes) }
    }

    /// Keeps watch over how long requests wait, for as long as it is polled.
    pub(super) async fn watch(&self) {
        self.entry.lateness.measure().await;
    }

    pub(super) fn speaks_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Serves a connection until it ends, or until what it has under way when told to stop has ended.
    pub(super) async fn serve(&self, stream: TcpStream, peer: Peer, stopped: watch::Receiver<bool>) {
        let stream = Guarded::socket(stream, self.limits.stall);
        let result = match &self.tls {
            None => self.http1(stream, peer, stopped).await,
            Some(tls) => match self.shake_hands(tls, stream).await {
                Some((stream, Agreed::Http1)) => self.http1(stream, peer, stopped).await,
                Some((stream, Agreed::Http2)) => self.http2(stream, peer, stopped).await,
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
    ) -> Option<(tokio_rustls::server::TlsStream<S>, Agreed)> {
        let Ok(_place) = self.handshakes.try_acquire() else {
            metrics::counter!("madang_http_connections_refused_total").increment(1);
            return None;
        };
        match tokio::time::timeout(self.limits.head, tls.accept(stream)).await {
            Ok(Ok(agreed)) => Some(agreed),
            Ok(Err(error)) => {
                tracing::debug!("no TLS: {error}");
                None
            }
            Err(_elapsed) => None,
        }
    }

    async fn http1<S>(&self, stream: S, peer: Peer, stopped: watch::Receiver<bool>) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let service = service_fn(|request: Request<Incoming>| self.entry.ask(request, peer));
        let serving = http1::Builder::new()
            .timer(SparingTimer::default())
            .header_read_timeout(self.limits.head)
            .max_headers(HEADERS_MAX)
            .max_buf_size(READ_BUFFER_BYTES)
            .half_close(false)
            .keep_alive(true)
            .serve_connection(TokioIo::new(stream), service);
        let serving = pin!(serving);
        until_done(serving, told(stopped), http1::Connection::graceful_shutdown).await
    }

    async fn http2<S>(&self, stream: S, peer: Peer, stopped: watch::Receiver<bool>) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let usage = Usage::default();
        let (entry, used) = (self.entry.clone(), usage.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (entry, under_way) = (entry.clone(), used.begin());
            name_host(&mut request);
            async move { entry.ask(request, peer).await.map(|answer| under_way.until_sent(answer)) }
        });
        let serving = http2::Builder::new(Tasks::default())
            .timer(TokioTimer::new())
            .keep_alive_interval(self.limits.head)
            .keep_alive_timeout(self.limits.head)
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX as u32)
            .serve_connection(TokioIo::new(stream), service);
        let serving = pin!(serving);
        let over = async {
            tokio::select! {
                () = told(stopped) => {}
                () = usage.idle_for(self.limits.head) => {}
            }
        };
        until_done(serving, over, http2::Connection::graceful_shutdown).await
    }
}

impl Entry {
    async fn ask(&self, mut request: Request<Incoming>, peer: Peer) -> Result<Response, Infallible> {
        // Whoever watches over the process must hear from it above all when it has too much to do.
        if self.lateness.refuses(request.method()) && !operations::ROUTES.contains(&request.uri().path()) {
            self.refused.increment(1);
            return Ok(self.late.give(request.headers()));
        }
        request.extensions_mut().insert(peer);
        self.router.clone().oneshot(request).await
    }
}

/// HTTP/2 has no Host header but names the host in its address; whoever asks where a request was sent to reads the header.
fn name_host(request: &mut Request<Incoming>) {
    let host = request.uri().authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
}

async fn told(mut stopped: watch::Receiver<bool>) {
    // The guard that `wait_for` gives back must not live on beside the connection.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

async fn until_done<C>(
    mut serving: Pin<&mut C>,
    over: impl Future<Output = ()>,
    let_finish: impl FnOnce(Pin<&mut C>),
) -> hyper::Result<()>
where
    C: Future<Output = hyper::Result<()>>,
{
    tokio::select! {
        biased;
        result = &mut serving => result,
        () = over => {
            let_finish(serving.as_mut());
            serving.await
        }
    }
}
