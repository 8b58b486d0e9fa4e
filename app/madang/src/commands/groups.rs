//! `madang groups`: the lag of each consumer group, and pausing one for a while.

use anyhow::bail;

use super::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers;

/// One line a group: its lag, and whether it is paused.
pub(super) async fn list(site: &Site, output: &Output) -> anyhow::Result<u8> {
    for progress in site.backing.groups().await? {
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
            names if names.is_empty() => bail!("no server runs on this data directory, so no group does"),
            names => bail!("there is no group {group:?} in this server; its groups are {}", names.join(", ")),
        }
    };
    if paused {
        pause.pause();
        output
            .text(format!(
                "{group} is paused; the log keeps what it has not read; resume with `madang groups resume {group}`"
            ))
            .await?;
    } else {
        pause.resume();
        output.text(format!("{group} is resumed")).await?;
    }
    Ok(0)
}

/// The same for every process of a cluster, whichever of them run the group.
async fn set_paused_everywhere(site: &Site, group: &str, paused: bool, output: &Output) -> anyhow::Result<u8> {
    let groups = consumers::all().map(|config| config.group);
    if !groups.iter().any(|known| known.as_str() == group) {
        let mut names: Vec<_> = groups.iter().map(|known| known.as_str()).collect();
        names.sort_unstable();
        bail!("there is no group {group:?}; the groups of a cluster are {}", names.join(", "));
    }
    site.backing.set_paused(group, paused).await?;
    let said = if paused {
        format!(
            "{group} is paused in every process within a second, for a day at most; the log keeps what it has not read; \
             resume with `madang groups resume {group}`"
        )
    } else {
        format!("{group} is resumed in every process within a second")
    };
    output.text(said).await?;
    Ok(0)
}
