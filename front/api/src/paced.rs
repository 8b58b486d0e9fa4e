//! A body that must arrive in time, and that holds no place among the requests in flight while it is waited for: else a
//! few thousand clients that send a byte a second would keep everybody out.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

const ARRIVING: u8 = 0;
const TOO_SLOW: u8 = 1;
const TOO_MANY: u8 = 2;

/// Requests worked on, and requests whose bodies are waited for.
#[derive(Debug, Default)]
pub(crate) struct Load {
    pub(crate) working: AtomicUsize,
    waiting: AtomicUsize,
}

/// What became of a body, for the gate, which answers for it: a handler sees only that it ended early.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrival(Arc<AtomicU8>);

/// Why a body was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// It took too long.
    TooSlow,
    /// Too many others are waited for.
    TooMany,
}

impl Arrival {
    /// Whether, and why, the body was given up.
    pub(crate) fn given_up(&self) -> Option<GivenUp> {
        match self.0.load(Ordering::Relaxed) {
            TOO_SLOW => Some(GivenUp::TooSlow),
            TOO_MANY => Some(GivenUp::TooMany),
            _ => None,
        }
    }
}

/// A body on its way.
pub(crate) struct Paced {
    body: Body,
    load: Arc<Load>,
    waiting_max: usize,
    limit: Duration,
    /// Runs from the first time that the body is waited for.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Whether the place in flight is given back for now.
    lent: bool,
    arrival: Arrival,
}

impl Paced {
    /// A body that may take `limit`, beside at most `waiting_max` others. `load` counts its request as worked on.
    pub(crate) fn new(body: Body, load: Arc<Load>, waiting_max: usize, limit: Duration, arrival: Arrival) -> Self {
        debug_assert_eq!(arrival.0.load(Ordering::Relaxed), ARRIVING);
        Self { body, load, waiting_max, limit, deadline: None, lent: false, arrival }
    }

    fn lend(&mut self) -> bool {
        if !self.lent {
            if self.load.waiting.fetch_add(1, Ordering::Relaxed) >= self.waiting_max {
                self.load.waiting.fetch_sub(1, Ordering::Relaxed);
                return false;
            }
            self.load.working.fetch_sub(1, Ordering::Relaxed);
            self.lent = true;
        }
        true
    }

    fn take_back(&mut self) {
        if std::mem::take(&mut self.lent) {
            self.load.working.fetch_add(1, Ordering::Relaxed);
            self.load.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn give_up(&mut self, why: u8) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.take_back();
        self.arrival.0.store(why, Ordering::Relaxed);
        Poll::Ready(Some(Err(axum::Error::new("the body was given up"))))
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.arrival.given_up().is_some() {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        if polled.is_ready() {
            this.take_back();
            return polled;
        }
        let limit = this.limit;
        let deadline = this.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if deadline.as_mut().poll(cx).is_ready() {
            return this.give_up(TOO_SLOW);
        }
        if !this.lend() {
            return this.give_up(TOO_MANY);
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        self.take_back();
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(8);

    fn loaded() -> Arc<Load> {
        let load = Arc::new(Load::default());
        load.working.store(1, Ordering::Relaxed);
        load
    }

    fn counts(load: &Load) -> (usize, usize) {
        (load.working.load(Ordering::Relaxed), load.waiting.load(Ordering::Relaxed))
    }

    /// A body of one byte every so often, without end.
    fn trickle(pause: Duration) -> Body {
        Body::from_stream(stream::unfold((), move |()| async move {
            tokio::time::sleep(pause).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), ()))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_is_given_up_and_holds_no_place_meanwhile() {
        let (load, arrival) = (loaded(), Arrival::default());
        let body = Paced::new(trickle(Duration::from_secs(1)), load.clone(), 1, LIMIT, arrival.clone());
        let mut reading = Box::pin(body.collect());
        assert!(futures_util::poll!(&mut reading).is_pending());
        assert_eq!(counts(&load), (0, 1));
        assert!(tokio::time::timeout(LIMIT * 2, reading).await.unwrap().is_err());
        assert_eq!((counts(&load), arrival.given_up()), ((1, 0), Some(GivenUp::TooSlow)));
    }

    #[tokio::test(start_paused = true)]
    async fn past_the_bound_a_body_is_not_waited_for() {
        let (load, arrival) = (loaded(), Arrival::default());
        let body = Paced::new(trickle(Duration::from_secs(1)), load.clone(), 0, LIMIT, arrival.clone());
        assert!(body.collect().await.is_err());
        assert_eq!((counts(&load), arrival.given_up()), ((1, 0), Some(GivenUp::TooMany)));
    }

    #[tokio::test]
    async fn a_body_that_is_there_passes_and_one_that_is_dropped_gives_its_place_back() {
        let load = loaded();
        let whole = Paced::new(Body::from("whole"), load.clone(), 1, LIMIT, Arrival::default());
        assert_eq!(whole.collect().await.unwrap().to_bytes(), "whole");
        let mut dropped = Box::pin(Paced::new(trickle(LIMIT), load.clone(), 1, LIMIT, Arrival::default()).collect());
        assert!(futures_util::poll!(&mut dropped).is_pending());
        drop(dropped);
        assert_eq!(counts(&load), (1, 0));
    }
}
