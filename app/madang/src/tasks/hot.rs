//! What the hot articles need of this process: the name of their group, and somebody who ends the days.

use std::sync::Arc;
use std::time::Duration;

use madang_hot_article::HotService;
use madang_messaging::{OnError, Supervisor};
use tracing::info;

use super::complaint::Complaint;
use super::upkeep::every;

/// The group that keeps the scores.
pub(crate) const GROUP: &str = "hot-article";
/// How often the days are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Ends days that are over, and forgets old ones.
pub(crate) fn start(supervisor: &Supervisor, hot: Arc<HotService>) {
    supervisor.spawn("hot-days", OnError::Restart, move |stop| {
        let (hot, mut complaint) = (hot.clone(), Complaint::about("end the days of the hot articles"));
        every(LOOK_EVERY, stop, async move || {
            let finished = complaint.hear(hot.finalise_due().await).unwrap_or_default();
            for day in finished.finalised {
                info!("the hot articles of {day} are final");
            }
        })
    });
}
