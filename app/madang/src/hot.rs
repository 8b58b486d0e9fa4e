//! What the hot articles need of this process: how far their group has come, and somebody who ends the days.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_event::Topic;
use madang_hot_article::{HotService, Progress};
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::{GroupId, OnError, Supervisor};
use madang_sqlite::SqliteLog;
use tracing::info;

use crate::upkeep::{every, warn_on_error};

/// The group that keeps the scores.
pub(crate) const GROUP: &str = "hot-article";
/// How often the days are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Asks the log how far the group has come.
pub(crate) struct LogProgress(pub(crate) SqliteLog);

#[async_trait]
impl Progress for LogProgress {
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError> {
        let topics = Topic::ALL.map(|topic| topic.name().to_owned());
        let caught_up = self.0.caught_up(&GroupId::new(GROUP), &topics, before).await;
        caught_up.map_err(|outage| StoreError::unavailable("event log", outage.to_string()))
    }
}

/// Ends days that are over, and forgets old ones.
pub(crate) fn start(supervisor: &Supervisor, hot: Arc<HotService>) {
    supervisor.spawn("hot-days", OnError::Restart, move |stop| {
        let hot = hot.clone();
        every(LOOK_EVERY, stop, async move || match hot.finalise_due().await {
            Ok(finished) => {
                for day in finished.finalised {
                    info!("the hot articles of {day} are final");
                }
            }
            failed => warn_on_error("end the days of the hot articles", failed),
        })
    });
}
