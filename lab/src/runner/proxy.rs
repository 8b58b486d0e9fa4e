//! A proxy of our own between a program and a server: cuts what goes through it, or delays it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Faults;

/// Bytes read at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// A proxy that runs for as long as it is held.
pub struct Proxy {
    port: u16,
    line: Arc<Line>,
    faults: Faults,
    _tasks: JoinSet<()>,
}

struct Line {
    /// Each cut is one more; a connection ends when it is no longer the number it began with.
    cuts: watch::Sender<u64>,
    delay_ms: AtomicU64,
    open: AtomicU64,
}

impl Proxy {
    /// A proxy in front of `127.0.0.1:port`.
    pub async fn start(port: u16, faults: Faults) -> anyhow::Result<Self> {
        let target = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for a proxy")?;
        let port = listener.local_addr()?.port();
        let line = Arc::new(Line { cuts: watch::Sender::new(0), delay_ms: AtomicU64::new(0), open: AtomicU64::new(0) });
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&line);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        if let Ok((client, _)) = accepted {
                            connections.spawn(serve(client, target, Arc::clone(&shared)));
                        }
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { port, line, faults, _tasks: tasks })
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every connection that goes through it; new ones pass. False when there was none.
    pub fn cut(&self) -> bool {
        let any = self.line.open.load(Ordering::SeqCst) > 0;
        self.line.cuts.send_modify(|cuts| *cuts += 1);
        if any {
            self.faults.count("cut connections");
        }
        any
    }

    /// Delays whatever goes through it by so much in each direction.
    pub fn delay(&self, span: Duration) {
        let ms = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let was_ms = self.line.delay_ms.swap(ms, Ordering::SeqCst);
        if was_ms == 0 && ms > 0 && self.line.open.load(Ordering::SeqCst) > 0 {
            self.faults.count("delayed connections");
        }
    }
}

async fn serve(client: TcpStream, target: SocketAddr, line: Arc<Line>) {
    let mut cuts = line.cuts.subscribe();
    let began = *cuts.borrow_and_update();
    let Ok(server) = TcpStream::connect(target).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    line.open.fetch_add(1, Ordering::SeqCst);
    tokio::select! {
        _ = cuts.wait_for(|cuts| *cuts != began) => {}
        () = pass(from_client, to_server, &line) => {}
        () = pass(from_server, to_client, &line) => {}
    }
    line.open.fetch_sub(1, Ordering::SeqCst);
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, line: &Line) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let delay_ms = line.delay_ms.load(Ordering::Relaxed);
        if delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn echo() -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                connections.spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        tasks.detach_all();
        port
    }

    #[tokio::test]
    async fn what_is_cut_ends_and_what_comes_after_passes() {
        let faults = Faults::new(std::path::Path::new("/nonexistent"));
        let proxy = Proxy::start(echo().await, faults.clone()).await.unwrap();
        assert!(!proxy.cut(), "nothing goes through it yet");
        for round in 1..=2 {
            let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
            stream.write_all(b"abc").await.unwrap();
            let mut answer = [0; 3];
            stream.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"abc");
            assert!(proxy.cut());
            assert!(matches!(stream.read(&mut answer).await, Ok(0) | Err(_)), "it was cut");
            assert_eq!(faults.total(), round);
        }
    }
}
