//! The instances of one role: who is asked next, how often, and when it is no use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use madang_kernel::StoreError;
use madang_messaging::{Backoff, Chance};
use tokio::time::Instant;

use super::failure::Failure;
use super::instance::Instance;
use crate::metric;
use crate::wire::Question;

/// Attempts after the first, whatever the options say: each multiplies the load on peers that are in trouble.
const RETRIES_MAX: u32 = 2;
/// Between attempts.
const PAUSE: Backoff = Backoff { base_ms: 20, cap_ms: 100 };

/// Instances that answer the same questions.
pub(super) struct Group {
    role: &'static str,
    instances: Vec<Arc<Instance>>,
    /// Calls start at one instance after another.
    turn: AtomicUsize,
    retries: u32,
    call_timeout: Duration,
}

impl Group {
    pub(super) fn new(role: &'static str, instances: Vec<Arc<Instance>>, retries: u32, call_timeout: Duration) -> Self {
        Self { role, instances, turn: AtomicUsize::new(0), retries: retries.min(RETRIES_MAX), call_timeout }
    }

    pub(super) fn role(&self) -> &'static str {
        self.role
    }

    pub(super) fn instances(&self) -> &[Arc<Instance>] {
        &self.instances
    }

    /// Asks one instance, and when it fails another, or the same one if there is no other.
    pub(super) async fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, StoreError> {
        let question = serde_json::to_vec(question).map_err(|error| StoreError::broken(self.role, error))?;
        let answer = self.answer(Q::PATH, question.into()).await?;
        serde_json::from_slice(&answer).map_err(|error| StoreError::broken(self.role, error))
    }

    async fn answer(&self, path: &'static str, question: Bytes) -> Result<Bytes, StoreError> {
        let end = Instant::now() + self.call_timeout;
        let mut round = Round::new(self.turn.fetch_add(1, Ordering::Relaxed), self.instances.len());
        let mut failed: Option<(Failure, Arc<Instance>)> = None;
        for attempt in 0..=self.retries {
            let last = failed.as_ref().map(|(failure, _)| failure);
            let Some(instance) = round.next(&self.instances, last) else { break };
            if attempt > 0 {
                metrics::counter!(metric::RETRIES, "role" => self.role).increment(1);
                let pause = PAUSE.delay_ms(attempt, &mut Chance::seeded(rand::random()));
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            match self.attempt(&instance, path, question.clone(), left).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Defect(reason)) => {
                    return Err(StoreError::broken(self.role, format!("{}: {reason}", instance.address())));
                }
                Err(failure) => failed = Some((failure, instance)),
            }
        }
        Err(self.unavailable(failed))
    }

    async fn attempt(
        &self,
        instance: &Instance,
        path: &'static str,
        question: Bytes,
        left: Duration,
    ) -> Result<Bytes, Failure> {
        let start = Instant::now();
        let outcome = instance.ask(path, question, left).await;
        metrics::histogram!(metric::CALL_SECONDS, "role" => self.role).record(start.elapsed().as_secs_f64());
        let label = outcome.as_ref().map_or_else(Failure::label, |_| "answered");
        metrics::counter!(metric::CALLS, "role" => self.role, "outcome" => label).increment(1);
        outcome
    }

    fn unavailable(&self, failed: Option<(Failure, Arc<Instance>)>) -> StoreError {
        let Some((failure, instance)) = failed else {
            let reason = match self.instances.is_empty() {
                true => "no peer is named for it".to_owned(),
                false => "no peer that has it answers; tried again soon".to_owned(),
            };
            return StoreError::unavailable(self.role, reason);
        };
        let reason = format!("{}: {}", instance.address(), failure.reason());
        StoreError::Unavailable { what: self.role, reason, retry_after: failure.retry_after() }
    }
}

/// The instances that one call has tried.
struct Round {
    start: usize,
    tried: Vec<bool>,
}

impl Round {
    fn new(start: usize, instances: usize) -> Self {
        Self { start, tried: vec![false; instances] }
    }

    /// The next instance whose circuit lets the call pass: one that was not tried yet, or else, if the last failure may
    /// pass at once, one that was.
    fn next(&mut self, instances: &[Arc<Instance>], last: Option<&Failure>) -> Option<Arc<Instance>> {
        let order = || (0..instances.len()).map(|step| self.start.wrapping_add(step) % instances.len());
        let again = last.is_some_and(Failure::may_pass_at_once);
        let fresh = order().find(|at| !self.tried[*at] && instances[*at].admits());
        let at = fresh.or_else(|| order().find(|at| again && self.tried[*at] && instances[*at].admits()))?;
        self.tried[at] = true;
        Some(Arc::clone(&instances[at]))
    }
}
