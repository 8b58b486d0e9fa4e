//! A socket whose peer must take what is written to it. Without this, a client that asks for a page and never reads it
//! keeps its connection, and everything buffered for it, for as long as it likes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// A stream that fails once a write has waited for too long.
pub(super) struct WriteTimeout<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout<TcpStream> {
    /// Bounds the writes of a socket. The kernel is told the same limit, because what fits its buffers looks written to
    /// us: it resets a connection whose peer acknowledges nothing, or keeps its window shut, for so long.
    pub(super) fn socket(stream: TcpStream, limit: Duration) -> Self {
        let socket = SockRef::from(&stream);
        // Answers are small and written whole: waiting to fill a packet only delays them.
        let set = socket
            .set_tcp_nodelay(true)
            .and_then(|()| socket.set_tcp_user_timeout(Some(limit)))
            // A peer that is gone without a word is noticed also while nothing is written to it.
            .and_then(|()| socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(limit).with_interval(limit / 3)));
        if let Err(error) = set {
            tracing::debug!("cannot set the options of a socket: {error}");
        }
        Self::new(stream, limit)
    }
}

impl<S> WriteTimeout<S> {
    fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waiting: None }
    }

    fn bounded<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer takes nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.bounded(cx, polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(cx, bytes);
        this.bounded(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_flush(cx);
        this.bounded(cx, polled)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_shutdown(cx);
        this.bounded(cx, polled)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (ours, _theirs) = duplex(4);
        let mut stream = WriteTimeout::new(ours, LIMIT);
        let started = tokio::time::Instant::now();
        let error = stream.write_all(&[0; 8]).await.unwrap_err();
        assert_eq!((error.kind(), started.elapsed()), (io::ErrorKind::TimedOut, LIMIT));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_peer_that_goes_on_taking_is_served() {
        let (ours, mut theirs) = duplex(4);
        let mut stream = WriteTimeout::new(ours, LIMIT);
        let reading = async {
            let mut taken = [0; 4];
            for _ in 0..4 {
                tokio::time::sleep(LIMIT * 2 / 3).await;
                theirs.read_exact(&mut taken).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 16]), reading);
        written.unwrap();
    }
}
