//! A consumer whose applied entries are counted, so that its end is known to the entry.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use async_trait::async_trait;
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Outage};
use tokio::sync::watch;

/// Hands deliveries on, and counts what was applied.
pub(super) struct Counted<H> {
    inner: H,
    awaited: u64,
    applied: watch::Sender<u64>,
    failure: Mutex<Option<String>>,
}

impl<H: Handler> Counted<H> {
    /// Counts up to `awaited`.
    pub(super) fn new(inner: H, awaited: u64) -> Self {
        Self { inner, awaited, applied: watch::Sender::new(0), failure: Mutex::new(None) }
    }

    /// How long after `started` the last awaited delivery was applied; whatever fails is an error.
    pub(super) async fn finished(&self, started: Instant) -> Result<Duration> {
        let mut applied = self.applied.subscribe();
        let enough = applied.wait_for(|applied| *applied >= self.awaited).await.map(|applied| *applied);
        let took = started.elapsed();
        if let Some(failure) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bail!("a consumer failed: {failure}");
        }
        match enough {
            Ok(applied) if applied == self.awaited => Ok(took),
            Ok(applied) => bail!("{applied} entries were applied instead of {}", self.awaited),
            Err(_) => bail!("nobody counts any more"),
        }
    }

    fn fail(&self, reason: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        self.applied.send_replace(u64::MAX);
    }
}

#[async_trait]
impl<H: Handler> Handler for Counted<H> {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let answers = self.inner.handle(deliveries).await;
        match answers.iter().find_map(|answer| answer.as_ref().err()) {
            Some(error) => self.fail(format!("{error:?}")),
            None => self.applied.send_modify(|applied| *applied = applied.saturating_add(answers.len() as u64)),
        }
        answers
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.fail("it fell behind the log".to_owned());
        self.inner.rebuild().await
    }
}
