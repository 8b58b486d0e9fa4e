//! The way between a primary and its replica: bytes arrive a while after they were sent, and those under way are lost when
//! the primary dies, as between two houses.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Pieces under way at most, in each direction.
const UNDER_WAY_MAX: usize = 4_096;
/// Bytes of a piece.
const PIECE: usize = 64 * 1024;

/// A link that stands until it is dropped, with everything on it.
pub(super) struct Link {
    pub(super) port: u16,
    stalls: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

impl Link {
    /// Listens on a port of its own, and joins whoever connects to `target` with so much delay each way.
    pub(super) async fn to(target: u16, delay: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let mut tasks = JoinSet::new();
        let stalls = watch::Sender::new(false);
        let stalled = stalls.subscribe();
        tasks.spawn(async move {
            // Ended with the link, so that nothing arrives any more.
            let mut joined = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let stalled = stalled.clone();
                joined.spawn(async move {
                    let Ok(far) = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, target))).await else {
                        return;
                    };
                    let _ = (near.set_nodelay(true), far.set_nodelay(true));
                    let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
                    tokio::select! {
                        () = carry(from_near, to_far, delay, stalled.clone()) => {}
                        () = carry(from_far, to_near, delay, stalled.clone()) => {}
                    }
                });
            }
        });
        Ok(Self { port, stalls, _tasks: tasks })
    }

    /// From here on nothing arrives any more, as on a network that stalls: neither side is told.
    pub(super) fn stall(&self) {
        self.stalls.send_replace(true);
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, delay: Duration, mut stalled: watch::Receiver<bool>) {
    let (sent, mut due) = mpsc::channel::<(Instant, Arc<[u8]>)>(UNDER_WAY_MAX);
    let take = async move {
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = from.read(&mut piece).await {
            if sent.send((Instant::now() + delay, piece[..length].into())).await.is_err() {
                return;
            }
        }
    };
    let give = async move {
        while let Some((at, piece)) = due.recv().await {
            tokio::time::sleep_until(at).await;
            // Gone with the link if it never goes on.
            if stalled.wait_for(|stalled| !stalled).await.is_err() {
                return;
            }
            if to.write_all(&piece).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(take, give);
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pair(delay: Duration) -> (Link, TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let link = Link::to(listener.local_addr().unwrap().port(), delay).await.unwrap();
        let near = TcpStream::connect((Ipv4Addr::LOCALHOST, link.port)).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        (link, near, far)
    }

    #[tokio::test]
    async fn bytes_arrive_in_order_and_late() {
        let delay = Duration::from_millis(50);
        let (_link, mut near, mut far) = pair(delay).await;
        let sent = Instant::now();
        near.write_all(b"one ").await.unwrap();
        near.write_all(b"two").await.unwrap();
        let mut text = [0; 7];
        far.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"one two");
        assert!(sent.elapsed() >= delay);
    }

    #[tokio::test]
    async fn on_a_link_that_stalls_nothing_arrives() {
        let (link, mut near, mut far) = pair(Duration::ZERO).await;
        near.write_all(b"one").await.unwrap();
        far.read_exact(&mut [0; 3]).await.unwrap();
        link.stall();
        near.write_all(b"two").await.unwrap();
        let arrived = tokio::time::timeout(Duration::from_millis(100), far.read(&mut [0; 3])).await;
        assert!(arrived.is_err(), "and the connection stays open");
    }

    #[tokio::test]
    async fn what_is_under_way_when_the_link_is_cut_is_lost() {
        let (link, mut near, mut far) = pair(Duration::from_secs(60)).await;
        near.write_all(b"lost").await.unwrap();
        drop(link);
        assert_eq!(far.read(&mut [0; 4]).await.unwrap_or(0), 0);
    }
}
