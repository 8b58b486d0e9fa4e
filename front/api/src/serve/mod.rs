//! Accepts connections and serves them until told to stop. Our own loop, because `axum::serve` has no time-outs: a client
//! that sends one byte a minute, or takes none, would hold its connection for ever.

mod connection;
mod guarded;
mod lateness;
mod limits;
mod sparing_timer;
mod streams;
mod tls;
mod turned_away;

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
use crate::extract::Peer;

/// How long to wait when no socket can be had: at once would spin, since the connection is still waiting.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections that wait to be accepted, as far as the system allows. One that finds no room tries again a second later,
/// which is how a crowd that comes all at once would notice that this is too few.
const BACKLOG: i32 = 4_096;
/// Connections past the bound that are being told so.
const TURNED_AWAY_MAX: usize = 64;

/// Where people come in: a socket, what a connection may cost, and a certificate if it speaks TLS.
pub struct Door {
    listener: TcpListener,
    limits: ConnectionLimits,
    tls: Option<Arc<Tls>>,
}

impl Door {
    /// A door without TLS, with the usual limits.
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
            tracing::debug!("as many connections as before wait to be accepted: {error}");
        }
        let serving = Arc::new(Connections::new(router, limits, tls));
        tokio::select! {
            () = serving.watch() => {}
            () = accept(listener, limits.connections, serving.clone(), stop, drain) => {}
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
    let places = Arc::new(Semaphore::new(connections_max));
    let corridor = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
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
        if let Ok(place) = places.clone().try_acquire_owned() {
            let (serving, stopped) = (serving.clone(), stopped.clone());
            connections.spawn(async move {
                serving.serve(stream, Peer(address.ip()), stopped).await;
                drop(place);
            });
        } else if let Ok(place) = corridor.clone().try_acquire_owned() {
            connections.spawn(turn_away(stream, place, serving.speaks_tls()));
        }
        // Otherwise dropped, which closes it: to be refused must cost us nothing.
    }
    drop(listener);
    stopping.send_replace(true);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, all_done).await.is_err() {
        tracing::warn!("cut off {} connections that did not finish in {drain:?}", connections.len());
    }
}

async fn turn_away(stream: TcpStream, place: OwnedSemaphorePermit, speaks_tls: bool) {
    metrics::counter!("madang_http_connections_refused_total").increment(1);
    // What we could say would have to be said after a handshake, which costs more than it is worth.
    if !speaks_tls {
        turned_away::tell(stream).await;
    }
    drop(place);
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
