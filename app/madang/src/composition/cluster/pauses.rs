//! Consumer groups that an operator paused: every process learns of it and pauses its own part of them.

use std::convert::Infallible;
use std::time::Duration;

use madang_engine_redis::RedisPauses;
use madang_messaging::Stop;

use crate::composition::site::GroupProgress;
use crate::tasks::groups::Groups;

/// Between two questions, so that a pause is in effect within a second.
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Pauses and resumes the groups of this process as they are told. While Redis is away, what was told last stays in force.
pub(super) async fn follow(pauses: RedisPauses, groups: Groups, stop: Stop) -> Result<(), Infallible> {
    loop {
        let names = groups.names();
        if let Ok(paused) = pauses.are_paused(&names).await {
            names.iter().zip(paused).for_each(|(name, is_paused)| set_paused(&groups, name, is_paused));
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(POLL_EVERY) => {}
        }
    }
}

fn set_paused(groups: &Groups, name: &str, is_paused: bool) {
    let Some(pause) = groups.pause_of(name).filter(|pause| pause.is_paused() != is_paused) else { return };
    if is_paused {
        tracing::info!("consumer group {name} is paused here, as an operator asked");
        pause.pause();
    } else {
        tracing::info!("consumer group {name} is resumed here");
        pause.resume();
    }
}

/// Tells of each group that is paused that it is.
pub(super) async fn in_words(pauses: &RedisPauses, progress: Vec<GroupProgress>) -> Vec<GroupProgress> {
    let names: Vec<&str> = progress.iter().map(|group| group.name.as_str()).collect();
    // How far a group has come is worth telling also while nobody can say whether it is paused.
    let paused = pauses.are_paused(&names).await.unwrap_or_default();
    let paused = paused.into_iter().chain(std::iter::repeat(false));
    let told = progress.into_iter().zip(paused).map(|(group, is_paused)| {
        let words = if is_paused { format!("paused, {}", group.words) } else { group.words };
        GroupProgress { words, ..group }
    });
    told.collect()
}
