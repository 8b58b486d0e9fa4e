//! Makes the hot lists of past days final, and removes those that are too old to show.

use std::sync::Arc;
use std::time::Duration;

use madang_hot_article::HotService;
use madang_messaging::{OnError, Supervisor};
use tracing::info;

use super::failure_log::FailureLog;
use super::upkeep::every;

/// How often days are checked.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// Starts the loop.
pub(crate) fn start(supervisor: &Supervisor, hot: Arc<HotService>) {
    supervisor.spawn("hot-days", OnError::Restart, move |stop| {
        let (hot, mut failures) = (hot.clone(), FailureLog::of("make the hot lists of past days final"));
        every(CHECK_EVERY, stop, async move || {
            let finished = failures.note(hot.finalise_due().await).unwrap_or_default();
            for day in finished.finalised {
                info!("the hot list of {day} is final");
            }
        })
    });
}
