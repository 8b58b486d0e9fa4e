//! Background work of a server: bounded tables, revocations of other processes, metrics that stay small.

use std::convert::Infallible;
use std::fmt::Display;
use std::time::Duration;

use madang_kernel::{ONCE_KEPT_MS, Timestamp};
use madang_member::MemberStore as _;
use madang_messaging::{Inbox as _, OnError, Stop, Supervisor};
use madang_sqlite::RetentionOptions;
use metrics_exporter_prometheus::PrometheusHandle;
use tracing::{info, warn};

use crate::config::Settings;
use crate::site::Site;

/// Longer than any replay of a dead letter reaches.
const INBOX_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How often the recorder folds what it has collected.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

/// Starts the background work of a server.
pub(crate) fn start(supervisor: &Supervisor, site: &Site, settings: &Settings, metrics: PrometheusHandle) {
    let (members, poll) = (site.members.clone(), Duration::from_millis(settings.revocation_poll_ms));
    supervisor.spawn("revocations", OnError::Restart, move |stop| {
        let members = members.clone();
        every(poll, stop, async move || warn_on_error("read revocations", members.refresh_revocations().await))
    });

    let (kept, retention, interval) =
        (site.clone(), retention(settings), Duration::from_secs(settings.retention_interval_s));
    supervisor.spawn("retention", OnError::Restart, move |stop| {
        let site = kept.clone();
        every(interval, stop, async move || forget_old(&site, retention).await)
    });

    let read = site.read.clone();
    supervisor.spawn("read-model-size", OnError::Restart, move |stop| {
        let read = read.clone();
        every(METRICS_UPKEEP, stop, async move || warn_on_error("weigh the query model", read.report_size().await))
    });

    supervisor.spawn("metrics-upkeep", OnError::Restart, move |stop| {
        let metrics = metrics.clone();
        every(METRICS_UPKEEP, stop, async move || metrics.run_upkeep())
    });
}

fn retention(settings: &Settings) -> RetentionOptions {
    RetentionOptions {
        keep_rows: settings.event_log_keep_rows,
        keep_for: Duration::from_secs(settings.event_log_keep_for_s),
        hard_max_rows: settings.event_log_hard_max_rows,
        ..RetentionOptions::default()
    }
}

async fn forget_old(site: &Site, retention: RetentionOptions) {
    match site.log.trim(retention).await {
        Ok(trimmed) if trimmed.removed > 0 => info!(removed = trimmed.removed, "trimmed the event log"),
        outcome => warn_on_error("trim the event log", outcome),
    }
    let now = site.clock.now();
    let before = Timestamp::from_millis(now.as_millis() - ONCE_KEPT_MS);
    warn_on_error("forget idempotency keys", site.article_store.purge_once(before).await);
    warn_on_error("forget ended sessions", site.member_store.forget_expired(now).await);
    warn_on_error("forget processed events", site.inbox.forget_older_than(INBOX_KEPT).await);
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
        warn!("cannot {what}, trying again later: {error}");
    }
}
