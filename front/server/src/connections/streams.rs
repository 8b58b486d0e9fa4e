//! The requests of an HTTP/2 connection: their tasks, which end with it, and whether one is still in progress.

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
pub(super) struct RequestTasks(Arc<Mutex<JoinSet<()>>>);

impl<F> Executor<F> for RequestTasks
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

/// Whether a connection has requests in progress. HTTP/1 has a time-out for the next request; HTTP/2 has none of its own.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<Counts>);

#[derive(Default)]
struct Counts {
    in_progress: AtomicUsize,
    begun: AtomicU64,
}

/// A request in progress.
pub(super) struct InProgress(Arc<Counts>);

impl Activity {
    /// A request begins.
    pub(super) fn begin(&self) -> InProgress {
        self.0.in_progress.fetch_add(1, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        InProgress(self.0.clone())
    }

    /// Waits until no request was in progress, and none began, for so long.
    pub(super) async fn idle_for(&self, idle: Duration) {
        loop {
            let begun = self.0.begun.load(Ordering::Relaxed);
            tokio::time::sleep(idle).await;
            if self.0.in_progress.load(Ordering::Relaxed) == 0 && self.0.begun.load(Ordering::Relaxed) == begun {
                return;
            }
        }
    }
}

impl InProgress {
    /// The response; its request is in progress until the body has gone out.
    pub(super) fn until_sent(self, response: Response) -> Response {
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &self;
                frame
            }))
        })
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_is_in_progress_until_its_body_is_gone() {
        let activity = Activity::default();
        let response = activity.begin().until_sent(Response::new(Body::from("text")));
        let idle = Duration::from_secs(10);
        let waits = tokio::time::timeout(idle * 5, activity.idle_for(idle));
        assert!(waits.await.is_err(), "the body is still there");
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "text");
        tokio::time::timeout(idle * 3, activity.idle_for(idle)).await.unwrap();
    }
}
