//! Background work of a server: bounded tables, revocations of other processes, metrics that stay small.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use madang_article_read::ReadService;
use madang_comment::CommentService;
use madang_kernel::{Clock as _, PageSize, SteadyClock, StoreError, Timestamp};
use madang_member::Sessions;
use madang_messaging::{OnError, Stop, Supervisor};
use tracing::{info, warn};

use super::failure_log::FailureLog;
use crate::composition::site::Site;
use crate::config::Settings;
use crate::telemetry::Metrics;

/// Between two attempts to read revocations while their source is away.
const REVOCATIONS_RETRY: Duration = Duration::from_secs(1);
/// Articles whose comments are placed at a time.
const PLACED_SLICE: PageSize = PageSize::DEFAULT;
/// How often the recorder folds what it has collected.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
/// How often the figures of the process are noted for the history of the day: gauges count with what they were then.
const HISTORY_EVERY: Duration = Duration::from_secs(60);

/// Starts the background work of a server.
pub(crate) fn start(supervisor: &Supervisor, site: &Site, settings: &Settings, metrics: Metrics) {
    let (sessions, poll) = (site.services.sessions.clone(), Duration::from_millis(settings.revocation_poll_ms));
    supervisor.spawn("revocations", OnError::Restart, move |stop| read_revocations(sessions.clone(), poll, stop));

    let interval = Duration::from_secs(settings.retention_interval_s);
    let (kept, settings) = (site.clone(), Arc::new(settings.clone()));
    // A clock that jumped must not make anything old.
    let forgetting = Arc::new(SteadyClock::new(site.clock.clone()));
    supervisor.spawn("retention", OnError::Restart, move |stop| {
        let (site, settings, clock) = (kept.clone(), settings.clone(), forgetting.clone());
        every(interval, stop, async move || {
            site.backing.forget_old(&site, &settings, clock.now()).await;
            purge_removed(&site, clock.now()).await;
        })
    });

    if let Some(members) = site.services.members.clone() {
        supervisor.spawn("members", OnError::Restart, move |stop| {
            let (members, mut failures) = (members.clone(), FailureLog::of("update members and sessions"));
            async move {
                // At once, and then at every interval.
                failures.note(members.keep_up().await);
                let work = async move || {
                    failures.note(members.keep_up().await);
                };
                every(interval, stop, work).await
            }
        });
    }

    if let Some(comments) = site.services.comments.clone() {
        let read = site.services.read.clone();
        supervisor.spawn("place-comments", OnError::Restart, move |stop| {
            place_comments(comments.clone(), read.clone(), stop)
        });
    }

    if let Some(read) = site.services.read.clone() {
        supervisor.spawn("read-model-size", OnError::Restart, move |stop| {
            let (read, mut failures) = (read.clone(), FailureLog::of("read the size of the query model"));
            every(METRICS_UPKEEP, stop, async move || {
                failures.note(read.report_size().await);
            })
        });
    }

    let noted = metrics.clone();
    supervisor.spawn("health-history", OnError::Restart, move |stop| {
        let metrics = noted.clone();
        // At once: what comes is compared with this.
        metrics.note();
        every(HISTORY_EVERY, stop, async move || metrics.note())
    });

    supervisor.spawn("metrics-upkeep", OnError::Restart, move |stop| {
        let metrics = metrics.clone();
        every(METRICS_UPKEEP, stop, async move || metrics.fold())
    });
}

/// Notes once what a version before did not beside the counts of comments, slice by slice; lists of what is active have it
/// then.
async fn place_comments(
    comments: Arc<CommentService>,
    read: Option<Arc<ReadService>>,
    stop: Stop,
) -> Result<(), StoreError> {
    let (mut after, mut placed) = (None, 0);
    while !stop.is_cancelled() {
        let (next, noted) = comments.place_slice(after, PLACED_SLICE).await?;
        placed += noted;
        after = next;
        if after.is_none() {
            break;
        }
    }
    if placed > 0 {
        info!("noted board and newest comment of {placed} articles that a version before commented on");
        if let Some(read) = read {
            read.clear().await?;
        }
    }
    stop.cancelled().await;
    Ok(())
}

/// Destroys what moderators removed and nobody restored in time.
async fn purge_removed(site: &Site, now: Timestamp) {
    if let Some(articles) = &site.services.articles {
        warn_on_error("destroy articles that were removed long ago", articles.purge_removed(now).await);
    }
    if let Some(comments) = &site.services.comments {
        warn_on_error("destroy comments that were removed long ago", comments.purge_removed(now).await);
    }
}

/// Reads revocations at every interval, and sooner again where that failed: without them no token is believed for long.
async fn read_revocations(sessions: Arc<Sessions>, poll: Duration, stop: Stop) -> Result<(), Infallible> {
    let mut failures = FailureLog::of("read revocations").meaning("after 60 s without them every token is refused");
    let mut wait = poll;
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
        let is_read = failures.note(sessions.refresh().await).is_some();
        wait = if is_read { poll } else { poll.min(REVOCATIONS_RETRY) };
    }
}

/// Runs `work` at every interval until `stop`; work under way is finished.
pub(crate) async fn every(interval: Duration, stop: Stop, mut work: impl AsyncFnMut()) -> Result<(), Infallible> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(interval) => {}
        }
        work().await;
    }
}

pub(crate) fn warn_on_error<T, E: Display>(what: &str, outcome: Result<T, E>) {
    if let Err(error) = outcome {
        warn!("cannot {what}, retrying at the next interval: {error}");
    }
}
