//! Accepts connections and serves them until told to stop. Our own loop, because `axum::serve` has no time-out for
//! reading headers: a client that sends one byte a minute would hold its connection for ever.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::extract::Peer;

/// How long a client may take to send the headers of its next request. It runs while a connection is idle as well, so
/// a proxy in front must let go of idle connections sooner.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Headers of one request.
const HEADERS_MAX: usize = 64;
/// The read buffer, and so the longest head of a request.
const HEAD_BYTES_MAX: usize = 32 * 1_024;
/// Open connections; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 16_384;
/// How long to wait when no socket can be had: at once would spin, since the connection is still waiting.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves `router` until `stop` completes, then lets requests in progress finish for at most `drain`. Idle connections
/// are closed at once.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
    drain: Duration,
) {
    let (stopping, stopped) = watch::channel(false);
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // Dropping the set aborts what is left in it: no connection outlives this call.
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &places) => accepted,
        };
        match accepted {
            Ok((stream, peer, place)) => {
                let (router, stopped) = (router.clone(), stopped.clone());
                connections.spawn(async move {
                    connection(stream, peer, router, stopped).await;
                    drop(place);
                });
            }
            Err(error) => pause_after(&error).await,
        }
    }
    drop(listener);
    stopping.send_replace(true);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, all_done).await.is_err() {
        tracing::warn!("cut off {} connections that did not finish in {drain:?}", connections.len());
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, Peer, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    Ok((stream, Peer(address.ip()), place))
}

/// A client that left before it was accepted is its own affair; anything else (no file descriptors, no memory) passes
/// with time, and must not end the server.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::warn!("cannot accept a connection: {error}");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn connection(stream: TcpStream, peer: Peer, router: Router, mut stopped: watch::Receiver<bool>) {
    // Answers are small and written whole: waiting to fill a packet only delays them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("cannot set TCP_NODELAY: {error}");
    }
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.clone().oneshot(request)
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .half_close(false)
        .keep_alive(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = pin!(serving);
    // The guard that `wait_for` gives back must not live on beside the connection.
    let told_to_stop = async { drop(stopped.wait_for(|stopped| *stopped).await) };
    let result = tokio::select! {
        biased;
        result = &mut serving => result,
        () = told_to_stop => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    // Resets, time-outs and garbage are the client's doing and happen all day.
    if let Err(error) = result {
        tracing::debug!("connection ended: {error}");
    }
}
