//! The only place that starts tasks: each has an owner, a name, a stop signal and a policy for its errors.

use std::any::Any;
use std::fmt::Display;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::{Backoff, Chance};

/// Fires when a task is to finish what it has in flight and return.
pub type Stop = tokio_util::sync::CancellationToken;

/// Waits between restarts of a failing task.
const RESTART_BACKOFF: Backoff = Backoff { base_ms: 100, cap_ms: 10_000 };
/// A task that ran so long before it failed is restarted as if for the first time.
const RESTART_FORGIVEN_MS: u64 = 60_000;
/// How long an aborted task may take to let go of what it holds.
const ABORT_JOIN_MS: u64 = 1_000;
/// Failures of tasks, by name.
const FAILURES: &str = "messaging_task_failures_total";

/// What the failure of a task means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Start it again, later each time.
    Restart,
    /// Nothing works without it: stop everything.
    Stop,
}

/// The task whose failure stopped everything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{task} failed: {reason}")]
pub struct TaskFailed {
    /// Its name.
    pub task: &'static str,
    /// What it said.
    pub reason: String,
}

/// How a shutdown went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShutdownReport {
    /// Tasks that returned by themselves.
    pub finished: Vec<&'static str>,
    /// Tasks that did not return in time and were aborted.
    pub aborted: Vec<&'static str>,
}

/// Owns tasks.
pub struct Supervisor {
    name: &'static str,
    stop: Stop,
    tasks: Mutex<Vec<(&'static str, JoinHandle<()>)>>,
    failed: watch::Sender<Option<TaskFailed>>,
}

impl Supervisor {
    /// A supervisor without tasks; stages of a shutdown have one each.
    pub fn new(name: &'static str) -> Self {
        Self { name, stop: Stop::new(), tasks: Mutex::default(), failed: watch::Sender::new(None) }
    }

    /// Fires when this supervisor stops.
    pub fn stop_token(&self) -> Stop {
        self.stop.clone()
    }

    /// Starts a task. It is called again after a failure if `on_error` says so; a panic is a failure like any other.
    #[expect(clippy::disallowed_methods, reason = "the supervisor owns every task, so this is where they start")]
    pub fn spawn<T, F, E>(&self, name: &'static str, on_error: OnError, task: T)
    where
        T: Fn(Stop) -> F + Send + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        let (stop, failed, supervisor) = (self.stop.clone(), self.failed.clone(), self.name);
        // From 0 on, so that the first failure is seen as growth.
        metrics::counter!(FAILURES, "task" => name).increment(0);
        let handle = tokio::spawn(async move {
            let mut chance = Chance::seeded(rand::random());
            let mut failures = 0;
            while !stop.is_cancelled() {
                let started = Instant::now();
                // The closure itself may panic before it returns its future.
                let begun = std::panic::catch_unwind(AssertUnwindSafe(|| task(stop.clone())));
                let Err(reason) = outcome(begun).await else { return };
                if started.elapsed() >= Duration::from_millis(RESTART_FORGIVEN_MS) {
                    failures = 0;
                }
                failures += 1;
                metrics::counter!(FAILURES, "task" => name).increment(1);
                if on_error == OnError::Stop {
                    tracing::error!(supervisor, task = name, "task {name} failed, {supervisor} stops: {reason}");
                    failed.send_if_modified(|first| first_failure(first, name, reason));
                    stop.cancel();
                    return;
                }
                let delay_ms = RESTART_BACKOFF.delay_ms(failures, &mut chance);
                tracing::error!(
                    supervisor,
                    task = name,
                    failures,
                    delay_ms,
                    "task {name} failed, restarting in {delay_ms} ms: {reason}"
                );
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(Duration::from_millis(delay_ms)) => {}
                }
            }
        });
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|(_, handle)| !handle.is_finished());
        tasks.push((name, handle));
    }

    /// Resolves when a task with [`OnError::Stop`] has failed.
    pub async fn failed(&self) -> TaskFailed {
        let mut failed = self.failed.subscribe();
        match failed.wait_for(Option::is_some).await {
            Ok(failure) => match failure.as_ref() {
                Some(failure) => failure.clone(),
                None => std::future::pending().await,
            },
            // The sender lives in `self`, so it cannot be gone.
            Err(_) => std::future::pending().await,
        }
    }

    /// Signals every task, waits for all of them together up to `timeout`, and aborts what is left.
    pub async fn shutdown(self, timeout: Duration) -> ShutdownReport {
        self.stop.cancel();
        let deadline = Instant::now() + timeout;
        let mut report = ShutdownReport::default();
        let tasks = self.tasks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut late = Vec::new();
        for (name, mut handle) in tasks {
            if tokio::time::timeout_at(deadline, &mut handle).await.is_ok() {
                report.finished.push(name);
            } else {
                handle.abort();
                tracing::warn!(supervisor = self.name, task = name, "task {name} did not stop in time and was aborted");
                report.aborted.push(name);
                late.push(handle);
            }
        }
        for handle in late {
            // A task that blocks its thread cannot be aborted; it must not hold up the rest.
            let _ = tokio::time::timeout(Duration::from_millis(ABORT_JOIN_MS), handle).await;
        }
        report
    }
}

async fn outcome<F, E>(begun: std::thread::Result<F>) -> Result<(), String>
where
    F: Future<Output = Result<(), E>>,
    E: Display,
{
    let ended = match begun {
        Ok(task) => AssertUnwindSafe(task).catch_unwind().await,
        Err(panic) => Err(panic),
    };
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(format!("panicked: {}", panic_text(panic.as_ref()))),
    }
}

/// What a panic said, as far as it can be known.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

fn first_failure(slot: &mut Option<TaskFailed>, task: &'static str, reason: String) -> bool {
    let first = slot.is_none();
    if first {
        *slot = Some(TaskFailed { task, reason });
    }
    first
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn a_failing_or_panicking_task_is_started_again() {
        let supervisor = Supervisor::new("test");
        let runs = Arc::new(AtomicU32::new(0));
        let (count, (third, done)) = (runs.clone(), watch::channel(false));
        supervisor.spawn("flaky", OnError::Restart, move |_stop| {
            let (run, third) = (count.fetch_add(1, Ordering::SeqCst), third.clone());
            async move {
                match run {
                    0 => Err("first"),
                    1 => panic!("second"),
                    _ => {
                        third.send_replace(true);
                        Ok(())
                    }
                }
            }
        });
        let mut done = done;
        tokio::time::timeout(TIMEOUT, done.wait_for(|done| *done)).await.unwrap().unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), 3);
        assert_eq!(supervisor.shutdown(TIMEOUT).await.aborted, Vec::<&str>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn the_failure_of_a_vital_task_stops_everything() {
        let supervisor = Supervisor::new("test");
        supervisor.spawn("bystander", OnError::Restart, |stop| async move {
            stop.cancelled().await;
            Ok::<(), String>(())
        });
        supervisor.spawn("vital", OnError::Stop, |_stop| async { Err("disk gone") });
        let failure = supervisor.failed().await;
        assert_eq!(failure.to_string(), "vital failed: disk gone");
        assert!(supervisor.stop_token().is_cancelled());
        assert_eq!(supervisor.shutdown(TIMEOUT).await.finished, vec!["bystander", "vital"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ignores_the_signal_is_aborted_and_named() {
        let supervisor = Supervisor::new("test");
        let (begun, mut deaf_runs) = watch::channel(false);
        supervisor.spawn("deaf", OnError::Restart, move |_stop| {
            begun.send_replace(true);
            std::future::pending::<Result<(), String>>()
        });
        deaf_runs.wait_for(|begun| *begun).await.unwrap();
        supervisor.spawn("polite", OnError::Restart, |stop| async move {
            stop.cancelled().await;
            Ok::<(), String>(())
        });
        let report = supervisor.shutdown(TIMEOUT).await;
        assert_eq!(report, ShutdownReport { finished: vec!["polite"], aborted: vec!["deaf"] });
    }
}
