//! Fills the search index where a rebuild is under way: at the first start, after one that was interrupted, and when the group
//! fell behind what the log keeps. Forgets marks of what has been gone for long.

use std::sync::Arc;
use std::time::Duration;

use madang_kernel::Clock;
use madang_messaging::{OnError, Supervisor};
use madang_search::SearchService;
use tracing::info;

use super::failure_log::FailureLog;
use super::upkeep::every;

/// How often it is asked whether there is something to fill.
const REBUILD_EVERY: Duration = Duration::from_secs(2);
/// How often old marks are forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(3_600);

/// Starts both loops.
pub(crate) fn start(supervisor: &Supervisor, search: Arc<SearchService>, clock: Arc<dyn Clock>) {
    let rebuilt = search.clone();
    supervisor.spawn("search-rebuild", OnError::Restart, move |stop| {
        let search = rebuilt.clone();
        let (mut failures, stopped) = (FailureLog::of("fill the search index"), stop.clone());
        let mut fill = async move || {
            // What is done is stored, and goes on at the next start.
            let outcome = tokio::select! {
                () = stopped.cancelled() => return,
                outcome = search.continue_rebuild() => outcome,
            };
            let filled = failures.note(outcome).flatten().filter(|filled| filled.is_whole);
            if let Some(filled) = filled {
                info!(documents = filled.documents, "filled the search index");
            }
        };
        async move {
            // At once, and then at every interval.
            fill().await;
            every(REBUILD_EVERY, stop, fill).await
        }
    });
    supervisor.spawn("search-tombstones", OnError::Restart, move |stop| {
        let (search, clock) = (search.clone(), clock.clone());
        let mut failures = FailureLog::of("forget marks in the search index");
        every(FORGET_EVERY, stop, async move || {
            failures.note(search.forget_tombstones(clock.now()).await);
        })
    });
}
