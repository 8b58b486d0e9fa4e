//! A process to ask: serves a router, and on demand hangs up or says nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use madang_http::PeerAddress;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower::ServiceExt;

/// How a peer behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Answers.
    Serves,
    /// Closes every connection without a word, also those that are open.
    HangsUp,
    /// Takes connections and questions, and says nothing.
    IsSilent,
}

/// A peer; ends when it is dropped.
pub(crate) struct Peer {
    pub(crate) address: PeerAddress,
    manner: watch::Sender<Manner>,
    connections: Arc<AtomicUsize>,
    _accepting: JoinSet<()>,
}

impl Peer {
    /// Serves a router on a port of its own.
    pub(crate) async fn serve(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let (manner, told) = watch::channel(Manner::Serves);
        let connections = Arc::new(AtomicUsize::new(0));
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, router, told, Arc::clone(&connections)));
        Self { address, manner, connections, _accepting: accepting }
    }

    /// From now on it behaves like this.
    pub(crate) fn turns(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    /// Connections that were made to it so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, router: Router, told: watch::Receiver<Manner>, count: Arc<AtomicUsize>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        count.fetch_add(1, Ordering::SeqCst);
        connections.spawn(converse(stream, router.clone(), told.clone()));
    }
}

async fn converse(stream: TcpStream, router: Router, mut told: watch::Receiver<Manner>) {
    let manner = *told.borrow_and_update();
    let changed = async { drop(told.changed().await) };
    match manner {
        Manner::HangsUp => {}
        Manner::IsSilent => changed.await,
        Manner::Serves => {
            let service = service_fn(move |request| router.clone().oneshot(request));
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = serving => {}
                () = changed => {}
            }
        }
    }
}

/// A port that refuses connections: it is bound, so that nobody else gets it, and nobody listens.
pub(crate) fn held_port() -> (TcpSocket, PeerAddress) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap()).parse().unwrap();
    (socket, address)
}
