//! `madang groups`: the lag of each consumer group, pausing one for a while, and passing over a record.

use anyhow::{Context as _, bail};
use madang_messaging::{ConsumerConfig, Position};

use super::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers;

const NO_SERVER: &str = "no server is running on this data directory, and so no consumer group is: start one first";

/// One line a group: its lag, and whether it is paused.
pub(super) async fn list(site: &Site, output: &Output) -> anyhow::Result<u8> {
    for progress in site.backing.groups(site).await? {
        let group = progress.name.as_str();
        let state = match site.groups.pause_of(group) {
            Some(pause) if pause.is_paused() => "paused",
            Some(_) => "running",
            None if site.backing.is_shared() => "",
            None => "not running",
        };
        let state = if state.is_empty() { String::new() } else { format!("{state}, ") };
        output.text(format!("{group}: {state}{}", progress.lag)).await?;
    }
    Ok(0)
}

/// Pauses a group, or resumes it.
pub(super) async fn set_paused(site: &Site, group: &str, paused: bool, output: &Output) -> anyhow::Result<u8> {
    if site.backing.is_shared() {
        return set_paused_everywhere(site, group, paused, output).await;
    }
    let Some(pause) = site.groups.pause_of(group) else {
        match site.groups.names() {
            names if names.is_empty() => bail!("{NO_SERVER}"),
            names => bail!("there is no consumer group {group:?}: the groups of this server are {}", names.join(", ")),
        }
    };
    if paused {
        pause.pause();
        output
            .text(format!(
                "{group} is paused; the event log keeps what it has not read. Resume it with `madang groups resume {group}`"
            ))
            .await?;
    } else {
        pause.resume();
        output.text(format!("{group} runs again")).await?;
    }
    Ok(0)
}

/// Has a group pass over one record, which is then neither applied nor kept as a dead letter.
pub(super) async fn skip(site: &Site, group: &str, record: &str, output: &Output) -> anyhow::Result<u8> {
    let record: Position = record.parse().with_context(|| format!("{record:?} does not name a record"))?;
    let config = known(site, group)?;
    let reads: Vec<String> = config.levels().into_iter().flat_map(|level| level.topics).collect();
    if !reads.contains(&record.topic) {
        bail!("{group} does not read the topic {}: it reads {}", record.topic, reads.join(", "));
    }
    if site.backing.is_shared() {
        site.backing.skip(group, &record).await?;
    } else {
        let running = site.groups.stuck_of(group);
        running.context(NO_SERVER)?.skip([record.clone()]);
    }
    output
        .text(format!("{group} will skip {record} when it reaches it; `madang groups list` shows how far behind it is"))
        .await?;
    Ok(0)
}

/// A group by its name.
fn known(site: &Site, group: &str) -> anyhow::Result<ConsumerConfig> {
    let mut groups = consumers::all(site);
    groups.sort_unstable_by(|one, other| one.group.as_str().cmp(other.group.as_str()));
    let names: Vec<&str> = groups.iter().map(|known| known.group.as_str()).collect();
    let found = groups.iter().find(|known| known.group.as_str() == group);
    found.cloned().with_context(|| format!("there is no consumer group {group:?}: the groups are {}", names.join(", ")))
}

/// The same for every process of a cluster, whichever of them run the group.
async fn set_paused_everywhere(site: &Site, group: &str, paused: bool, output: &Output) -> anyhow::Result<u8> {
    known(site, group)?;
    site.backing.set_paused(group, paused).await?;
    let said = if paused {
        format!(
            "{group} will be paused in every process within a second, for one day at most; the event log keeps what it has \
             not read. Resume it with `madang groups resume {group}`"
        )
    } else {
        format!("{group} will run again in every process within a second")
    };
    output.text(said).await?;
    Ok(0)
}
