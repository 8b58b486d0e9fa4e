//! A body that must arrive in time, and whose request holds no permit while it is waited for: else a few thousand clients
//! that send a byte a second would keep everybody out.

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

/// Requests in flight, and requests whose bodies are waited for.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) in_flight: AtomicUsize,
    awaiting_body: AtomicUsize,
}

/// What became of a body, for admission control, which answers for it: a handler sees only that it ended early.
#[derive(Debug, Clone, Default)]
pub(super) struct BodyOutcome(Arc<AtomicU8>);

/// Why a body was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// It took too long.
    TooSlow,
    /// Too many others are waited for.
    TooMany,
}

impl BodyOutcome {
    /// Whether, and why, the body was given up.
    pub(super) fn given_up(&self) -> Option<GivenUp> {
        match self.0.load(Ordering::Relaxed) {
            TOO_SLOW => Some(GivenUp::TooSlow),
            TOO_MANY => Some(GivenUp::TooMany),
            _ => None,
        }
    }
}

/// A body with a deadline.
pub(super) struct TimedBody {
    body: Body,
    load: Arc<Load>,
    awaiting_max: usize,
    limit: Duration,
    /// Runs from the first time that the body is waited for.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Whether the request's permit is given back for now.
    is_awaiting: bool,
    outcome: BodyOutcome,
}

impl TimedBody {
    /// A body that may take `limit`, beside at most `awaiting_max` others. `load` counts its request as in flight.
    pub(super) fn new(body: Body, load: Arc<Load>, awaiting_max: usize, limit: Duration, outcome: BodyOutcome) -> Self {
        debug_assert_eq!(outcome.0.load(Ordering::Relaxed), ARRIVING);
        Self { body, load, awaiting_max, limit, deadline: None, is_awaiting: false, outcome }
    }

    fn release_permit(&mut self) -> bool {
        if !self.is_awaiting {
            if self.load.awaiting_body.fetch_add(1, Ordering::Relaxed) >= self.awaiting_max {
                self.load.awaiting_body.fetch_sub(1, Ordering::Relaxed);
                return false;
            }
            self.load.in_flight.fetch_sub(1, Ordering::Relaxed);
            self.is_awaiting = true;
        }
        true
    }

    fn take_permit_back(&mut self) {
        if std::mem::take(&mut self.is_awaiting) {
            self.load.in_flight.fetch_add(1, Ordering::Relaxed);
            self.load.awaiting_body.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn give_up(&mut self, why: u8) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.take_permit_back();
        self.outcome.0.store(why, Ordering::Relaxed);
        Poll::Ready(Some(Err(axum::Error::new("the body was given up"))))
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.outcome.given_up().is_some() {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        if polled.is_ready() {
            this.take_permit_back();
            return polled;
        }
        let limit = this.limit;
        let deadline = this.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if deadline.as_mut().poll(cx).is_ready() {
            return this.give_up(TOO_SLOW);
        }
        if !this.release_permit() {
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

impl Drop for TimedBody {
    fn drop(&mut self) {
        self.take_permit_back();
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
        load.in_flight.store(1, Ordering::Relaxed);
        load
    }

    fn counts(load: &Load) -> (usize, usize) {
        (load.in_flight.load(Ordering::Relaxed), load.awaiting_body.load(Ordering::Relaxed))
    }

    /// A body of one byte every so often, without end.
    fn trickle(pause: Duration) -> Body {
        Body::from_stream(stream::unfold((), move |()| async move {
            tokio::time::sleep(pause).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), ()))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_is_given_up_and_holds_no_permit_meanwhile() {
        let (load, outcome) = (loaded(), BodyOutcome::default());
        let body = TimedBody::new(trickle(Duration::from_secs(1)), load.clone(), 1, LIMIT, outcome.clone());
        let mut reading = Box::pin(body.collect());
        assert!(futures_util::poll!(&mut reading).is_pending());
        assert_eq!(counts(&load), (0, 1));
        assert!(tokio::time::timeout(LIMIT * 2, reading).await.unwrap().is_err());
        assert_eq!((counts(&load), outcome.given_up()), ((1, 0), Some(GivenUp::TooSlow)));
    }

    #[tokio::test(start_paused = true)]
    async fn past_the_bound_a_body_is_not_waited_for() {
        let (load, outcome) = (loaded(), BodyOutcome::default());
        let body = TimedBody::new(trickle(Duration::from_secs(1)), load.clone(), 0, LIMIT, outcome.clone());
        assert!(body.collect().await.is_err());
        assert_eq!((counts(&load), outcome.given_up()), ((1, 0), Some(GivenUp::TooMany)));
    }

    #[tokio::test]
    async fn a_body_that_is_there_passes_and_one_that_is_dropped_gives_its_permit_back() {
        let load = loaded();
        let whole = TimedBody::new(Body::from("whole"), load.clone(), 1, LIMIT, BodyOutcome::default());
        assert_eq!(whole.collect().await.unwrap().to_bytes(), "whole");
        let mut dropped =
            Box::pin(TimedBody::new(trickle(LIMIT), load.clone(), 1, LIMIT, BodyOutcome::default()).collect());
        assert!(futures_util::poll!(&mut dropped).is_pending());
        drop(dropped);
        assert_eq!(counts(&load), (1, 0));
    }
}
