//! Writes live view counts back in time: the loop that drives the view service, and the last flush of a server that stops.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use madang_messaging::{OnError, Stop, Supervisor};
use madang_view::{FLUSH_STEP_MS, ViewService};
use tracing::{error, warn};

/// How often a store that is away is reported.
const WARN_EVERY_STEPS: u32 = 40;

/// Starts the loop.
pub(crate) fn start(supervisor: &Supervisor, views: Arc<ViewService>) {
    supervisor.spawn("view-write-back", OnError::Restart, move |stop| keep(views.clone(), stop));
}

async fn keep(views: Arc<ViewService>, stop: Stop) -> Result<(), Infallible> {
    let mut failures = 0_u32;
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(Duration::from_millis(FLUSH_STEP_MS)) => {}
            () = views.wait_until_due() => {}
        }
        match views.flush_due().await {
            Ok(_) => failures = 0,
            Err(error) => {
                if failures.is_multiple_of(WARN_EVERY_STEPS) {
                    warn!("cannot store view counts, retrying; they stay in memory until then: {error}");
                }
                failures += 1;
                // Views that are due would wake the loop at once, again and again.
                tokio::time::sleep(Duration::from_millis(FLUSH_STEP_MS)).await;
            }
        }
    }
}

/// Writes back everything, after the last view and before the store closes.
pub(crate) async fn finish(views: &ViewService) {
    if let Err(error) = views.flush_all().await {
        error!("the last views of {} articles could not be stored and are lost: {error}", views.unwritten());
    }
}
