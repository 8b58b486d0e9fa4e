//! Figures that nobody reports by doing something: read again and again, because a part that does nothing says nothing.

use std::time::Duration;

use madang_messaging::{OnError, Supervisor};
use madang_server::Readiness as _;

use crate::composition::site::Site;
use crate::serve::readiness::SiteReadiness;
use crate::tasks::failure_log::FailureLog;
use crate::tasks::upkeep::every;

/// How often what is in memory is read.
const STREAMS_EVERY: Duration = Duration::from_secs(5);
/// How often parts are asked how they are: each is a round trip.
const PARTS_EVERY: Duration = Duration::from_secs(10);
/// How often dead letters are counted: on Kafka they are read to be counted.
const DEAD_LETTERS_EVERY: Duration = Duration::from_secs(30);

/// Starts to show what this process is, and how its parts are.
pub(crate) fn start(supervisor: &Supervisor, site: &Site) {
    let composition = if site.backing.is_shared() { "cluster" } else { "embedded" };
    metrics::gauge!("madang_build_info", "version" => env!("CARGO_PKG_VERSION"), "composition" => composition).set(1.0);

    let live = site.live.clone();
    supervisor.spawn("live-streams", OnError::Restart, move |stop| {
        let live = live.clone();
        every(STREAMS_EVERY, stop, async move || metrics::gauge!("madang_live_streams").set(live.streams() as f64))
    });

    let readiness = site.clone();
    supervisor.spawn("readiness", OnError::Restart, move |stop| {
        let readiness = SiteReadiness(readiness.clone());
        async move {
            // At once: until then a process that has just started would be taken for one that cannot serve.
            show_parts(&readiness).await;
            every(PARTS_EVERY, stop, async move || show_parts(&readiness).await).await
        }
    });

    let dead_letters = site.dead_letters.clone();
    supervisor.spawn("dead-letters", OnError::Restart, move |stop| {
        let (dead_letters, mut failures) = (dead_letters.clone(), FailureLog::of("count the dead letters"));
        every(DEAD_LETTERS_EVERY, stop, async move || {
            if let Some(count) = failures.note(dead_letters.count().await) {
                metrics::gauge!("madang_dead_letters").set(count as f64);
            }
        })
    });
}

async fn show_parts(readiness: &SiteReadiness) {
    let parts = readiness.parts().await;
    metrics::gauge!("madang_ready").set(figure(readiness.can_serve(&parts)));
    for part in parts {
        metrics::gauge!("madang_part_ready", "part" => part.name).set(figure(part.ok));
    }
}

fn figure(yes: bool) -> f64 {
    if yes { 1.0 } else { 0.0 }
}
