//! What an HTTP/2 connection has under way: its tasks, which end with it, and whether anybody still waits for something.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::rt::Executor;
use tokio::task::JoinSet;

/// Runs the requests of one connection. When the connection is gone, so are they.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, request: F) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A set keeps what has ended until somebody asks.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(request);
    }
}

/// Whether a connection is used. HTTP/1 has a time-out for the next request; HTTP/2 has none of its own.
#[derive(Clone, Default)]
pub(super) struct Usage(Arc<Counts>);

#[derive(Default)]
struct Counts {
    under_way: AtomicUsize,
    begun: AtomicU64,
}

/// Something under way.
pub(super) struct Use(Arc<Counts>);

impl Usage {
    /// Something begins.
    pub(super) fn begin(&self) -> Use {
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        Use(self.0.clone())
    }

    /// Waits until nothing was under way, and nothing began, for so long.
    pub(super) async fn idle_for(&self, idle: Duration) {
        loop {
            let begun = self.0.begun.load(Ordering::Relaxed);
            tokio::time::sleep(idle).await;
            if self.0.under_way.load(Ordering::Relaxed) == 0 && self.0.begun.load(Ordering::Relaxed) == begun {
                return;
            }
        }
    }
}

impl Use {
    /// The answer; it is under way until its body has gone out.
    pub(super) fn until_sent(self, answer: Response) -> Response {
        answer.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &self;
                frame
            }))
        })
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_under_way_until_its_body_is_gone() {
        let usage = Usage::default();
        let answer = usage.begin().until_sent(Response::new(Body::from("text")));
        let idle = Duration::from_secs(10);
        let waits = tokio::time::timeout(idle * 5, usage.idle_for(idle));
        assert!(waits.await.is_err(), "the body is still there");
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "text");
        tokio::time::timeout(idle * 3, usage.idle_for(idle)).await.unwrap();
    }
}
