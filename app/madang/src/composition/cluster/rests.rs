//! Consumer groups that an operator had rest: every process hears of it and turns the switches of its own.

use std::convert::Infallible;
use std::time::Duration;

use madang_messaging::Stop;
use madang_redis::RedisRests;

use crate::composition::site::GroupProgress;
use crate::tasks::groups::Groups;

/// Between two looks, so that a rest is in effect within a second.
const LOOK: Duration = Duration::from_millis(500);

/// Has the groups of this process rest and go on as they are told. While Redis is away, what was told last stays in force.
pub(super) async fn follow(rests: RedisRests, groups: Groups, stop: Stop) -> Result<(), Infallible> {
    loop {
        let names = groups.names();
        if let Ok(resting) = rests.are_resting(&names).await {
            names.iter().zip(resting).for_each(|(name, rests)| turn(&groups, name, rests));
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

fn turn(groups: &Groups, name: &str, rests: bool) {
    let Some(pause) = groups.pause_of(name).filter(|pause| pause.is_paused() != rests) else { return };
    if rests {
        tracing::info!(group = name, "rests, as an operator wishes");
        pause.pause();
    } else {
        tracing::info!(group = name, "goes on");
        pause.resume();
    }
}

/// Says of each group that rests that it does.
pub(super) async fn in_words(rests: &RedisRests, progress: Vec<GroupProgress>) -> Vec<GroupProgress> {
    let names: Vec<&str> = progress.iter().map(|group| group.name.as_str()).collect();
    // How far a group has come is worth telling also while nobody can say whether it rests.
    let resting = rests.are_resting(&names).await.unwrap_or_default();
    let resting: Vec<bool> = resting.into_iter().chain(std::iter::repeat(false)).take(progress.len()).collect();
    let told = progress.into_iter().zip(resting).map(|(group, rests)| {
        let words = if rests { format!("paused, {}", group.words) } else { group.words };
        GroupProgress { words, ..group }
    });
    told.collect()
}
