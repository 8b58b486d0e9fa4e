//! A proxy in front of a server that cuts the connection at a COMMIT, takes no connections or stands still, when it is told
//! to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What happens to the next COMMITs.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// COMMITs that reach the server and whose reply does not come back.
    pub(crate) after: AtomicU32,
    /// COMMITs that do not reach the server.
    pub(crate) before: AtomicU32,
    /// COMMITs at which the line stands still.
    pub(crate) still: AtomicU32,
    /// What comes through.
    pub(crate) line: watch::Sender<Line>,
}

/// What comes through a proxy.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) enum Line {
    /// Everything.
    #[default]
    Open,
    /// No new connection.
    Closed,
    /// Nothing, though connections are taken, and what was sent comes later.
    Still,
}

/// A proxy that runs for as long as it is held.
pub(crate) struct Proxy {
    pub(crate) cuts: Arc<Cuts>,
    port: u16,
    _tasks: JoinSet<()>,
}

enum Cut {
    No,
    Before,
    After,
    Still,
}

impl Proxy {
    /// Starts a proxy to the server of `url`, and returns the URL that leads through it.
    pub(crate) async fn start(url: &str) -> (Self, String) {
        Self::start_at(0, url).await
    }

    /// As [`Self::start`], where another proxy was before.
    pub(crate) async fn start_at(port: u16, url: &str) -> (Self, String) {
        let (credentials, address) = url.rsplit_once('@').unwrap();
        let target: SocketAddr = address.trim_end_matches('/').parse().unwrap();
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = Arc::new(Cuts::default());
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&cuts);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(serve(client, target, Arc::clone(&shared)));
            }
        });
        let proxied = format!("{credentials}@127.0.0.1:{port}");
        (Self { cuts, port, _tasks: tasks }, proxied)
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

async fn serve(client: TcpStream, target: SocketAddr, cuts: Arc<Cuts>) {
    if *cuts.line.borrow() == Line::Closed {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (deaf, hears) = watch::channel(false);
    let mut both = JoinSet::new();
    both.spawn(requests(from_client, to_server, Arc::clone(&cuts), deaf));
    both.spawn(replies(from_server, to_client, cuts, hears));
    // Either end closes both.
    both.join_next().await;
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, cuts: Arc<Cuts>, deaf: watch::Sender<bool>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        match cut(&buffer[..read], &cuts) {
            Cut::No => {}
            Cut::Before => return,
            Cut::After => {
                deaf.send_replace(true);
            }
            Cut::Still => {
                cuts.line.send_replace(Line::Still);
            }
        }
        moves(&cuts).await;
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

async fn replies(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, cuts: Arc<Cuts>, hears: watch::Receiver<bool>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        moves(&cuts).await;
        // The reply is here, so the server has done it; and now it is lost.
        if *hears.borrow() || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// Waits while the line stands still.
async fn moves(cuts: &Cuts) {
    let _ = cuts.line.subscribe().wait_for(|line| *line != Line::Still).await;
}

/// A packet of COM_QUERY with the one word.
fn cut(packet: &[u8], cuts: &Cuts) -> Cut {
    if !packet.ends_with(b"\x03COMMIT") {
        return Cut::No;
    }
    let take =
        |count: &AtomicU32| count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
    if take(&cuts.after) {
        Cut::After
    } else if take(&cuts.before) {
        Cut::Before
    } else if take(&cuts.still) {
        Cut::Still
    } else {
        Cut::No
    }
}
