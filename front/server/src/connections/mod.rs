//! Accepts connections and serves them until told to stop. Our own loop, because `axum::serve` has no time-outs: a client
//! that sends one byte a minute, or takes none, would hold its connection for ever.

mod connection;
mod head_timer;
mod limits;
mod readable_address;
mod reject;
mod streams;
mod tls;
mod write_timeout;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use self::connection::Connections;
pub use self::limits::ConnectionLimits;
pub use self::tls::{Tls, TlsError};
use crate::RefusedBy;
use crate::client_address::Peer;

/// How long to wait when no socket can be had: at once would spin, since the connection is still waiting.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The backlog that is asked for; the system may allow less. A connection past it is tried again by its client a second
/// later, which is how many that come at once would notice that this is too few.
const BACKLOG: i32 = 4_096;
/// Connections past the bound that are being refused with 503.
const REJECTING_MAX: usize = 64;

/// An HTTP server on one socket: what a connection may cost, and a certificate if it speaks TLS.
pub struct Server {
    listener: TcpListener,
    limits: ConnectionLimits,
    tls: Option<Arc<Tls>>,
}

impl Server {
    /// A server without TLS, with the usual limits.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, limits: ConnectionLimits::default(), tls: None }
    }

    /// The same with these limits.
    pub fn with_limits(self, limits: ConnectionLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same by TLS, if there is a certificate.
    pub fn with_tls(self, tls: Option<Arc<Tls>>) -> Self {
        Self { tls, ..self }
    }

    /// Serves `router` until `stop` completes, then lets requests in progress finish for at most `drain`. Idle connections
    /// are closed at once.
    pub async fn serve(self, router: Router, stop: impl Future<Output = ()> + Send + 'static, drain: Duration) {
        let Self { listener, limits, tls } = self;
        if let Err(error) = SockRef::from(&listener).listen(BACKLOG) {
            tracing::debug!("cannot enlarge the backlog of the listener, it stays at its default: {error}");
        }
        let connections = Arc::new(Connections::new(router, limits, tls));
        tokio::select! {
            () = connections.probe() => {}
            () = accept(listener, limits.connections, connections.clone(), stop, drain) => {}
        }
    }
}

async fn accept(
    listener: TcpListener,
    connections_max: usize,
    serving: Arc<Connections>,
    stop: impl Future<Output = ()> + Send + 'static,
    drain: Duration,
) {
    let (stopping, stopped) = watch::channel(false);
    let permits = Arc::new(Semaphore::new(connections_max));
    let rejections = Arc::new(Semaphore::new(REJECTING_MAX));
    // Dropping the set aborts what is left in it: no connection outlives this call.
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        if let Ok(permit) = permits.clone().try_acquire_owned() {
            let (serving, stopped) = (serving.clone(), stopped.clone());
            connections.spawn(async move {
                serving.serve(stream, Peer(address.ip()), stopped).await;
                drop(permit);
            });
        } else if let Ok(permit) = rejections.clone().try_acquire_owned() {
            connections.spawn(reject(stream, permit, serving.speaks_tls()));
        }
        // Otherwise dropped, which closes it: to be refused must cost us nothing.
    }
    drop(listener);
    stopping.send_replace(true);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, all_done).await.is_err() {
        tracing::warn!("closed {} connections that had not finished within {drain:?}", connections.len());
    }
}

async fn reject(stream: TcpStream, permit: OwnedSemaphorePermit, speaks_tls: bool) {
    metrics::counter!("madang_http_connections_refused_total").increment(1);
    RefusedBy::Connections.count();
    // What we could say would have to be said after a handshake, which costs more than it is worth.
    if !speaks_tls {
        reject::reject(stream).await;
    }
    drop(permit);
}

/// A client that left before it was accepted is its own affair; anything else (no file descriptors, no memory) passes
/// with time, and must not end the server.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::warn!("cannot accept a connection, trying again in {ACCEPT_PAUSE:?}: {error}");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
