//! Consumer groups that an operator paused, and records that they pass over: every process reads from Redis which, and has
//! its own do so.

use std::convert::Infallible;
use std::time::Duration;

use madang_engine_redis::RedisPauses;
use madang_messaging::Stop;

use tracing::info;

use crate::composition::site::GroupLagText;
use crate::tasks::running_groups::RunningGroups;

/// How often it is read, so that a pause is in effect within a second.
const POLL: Duration = Duration::from_millis(500);

/// Pauses and resumes the groups of this process as operators wish. While Redis is away, the last known wish stays in force.
pub(super) async fn follow(paused: RedisPauses, groups: RunningGroups, stop: Stop) -> Result<(), Infallible> {
    loop {
        let names = groups.names();
        if let Ok(paused) = paused.are_paused(&names).await {
            names.iter().zip(paused).for_each(|(name, is_paused)| set(&groups, name, is_paused));
        }
        if let Ok(skips) = paused.skips().await {
            for (group, record) in skips {
                if let Some(stuck) = groups.stuck_of(&group) {
                    stuck.skip([record]);
                }
            }
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

fn set(groups: &RunningGroups, name: &str, is_paused: bool) {
    let Some(pause) = groups.pause_of(name).filter(|pause| pause.is_paused() != is_paused) else { return };
    if is_paused {
        info!("consumer group {name} was paused by an operator; the log keeps what it has not read");
        pause.pause();
    } else {
        info!("consumer group {name} was resumed");
        pause.resume();
    }
}

/// Says of each group that is paused that it is.
pub(super) async fn add_to(paused: &RedisPauses, lags: Vec<GroupLagText>) -> Vec<GroupLagText> {
    let names: Vec<&str> = lags.iter().map(|group| group.name.as_str()).collect();
    // A lag is worth showing also while nobody can say whether the group is paused.
    let paused = paused.are_paused(&names).await.unwrap_or_default();
    let paused = paused.into_iter().chain(std::iter::repeat(false));
    let described = lags.into_iter().zip(paused).map(|(group, is_paused)| match is_paused {
        true => GroupLagText { lag: format!("paused, {}", group.lag), ..group },
        false => group,
    });
    described.collect()
}
