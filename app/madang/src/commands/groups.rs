//! `madang groups`: how far each consumer group has come, and have one rest for a while.

use anyhow::bail;

use super::report::Report;
use crate::composition::site::Site;
use crate::tasks::consumers;

/// One line a group: how far it is behind, and whether it rests.
pub(super) async fn list(site: &Site, report: &Report) -> anyhow::Result<u8> {
    for progress in site.backing.groups().await? {
        let group = progress.name.as_str();
        let state = match site.groups.pause_of(group) {
            Some(pause) if pause.is_paused() => "paused",
            Some(_) => "running",
            None if site.backing.is_shared() => "",
            None => "not running",
        };
        let state = if state.is_empty() { String::new() } else { format!("{state}, ") };
        report.text(format!("{group}: {state}{}", progress.words)).await?;
    }
    Ok(0)
}

/// Has a group rest, or go on.
pub(super) async fn set_paused(site: &Site, group: &str, paused: bool, report: &Report) -> anyhow::Result<u8> {
    if site.backing.is_shared() {
        return set_resting_everywhere(site, group, paused, report).await;
    }
    let Some(pause) = site.groups.pause_of(group) else {
        match site.groups.names() {
            names if names.is_empty() => bail!("no server runs on this data directory, so no group does"),
            names => bail!("there is no group {group:?} in this server; its groups are {}", names.join(", ")),
        }
    };
    if paused {
        pause.pause();
        report
            .text(format!("{group} rests; the log keeps what it has not read; `madang groups resume {group}`"))
            .await?;
    } else {
        pause.resume();
        report.text(format!("{group} goes on")).await?;
    }
    Ok(0)
}

/// The same for every process of a cluster, whichever of them run the group.
async fn set_resting_everywhere(site: &Site, group: &str, rests: bool, report: &Report) -> anyhow::Result<u8> {
    let groups = consumers::all().map(|config| config.group);
    if !groups.iter().any(|known| known.as_str() == group) {
        let mut names: Vec<_> = groups.iter().map(|known| known.as_str()).collect();
        names.sort_unstable();
        bail!("there is no group {group:?}; the groups of a cluster are {}", names.join(", "));
    }
    site.backing.set_resting(group, rests).await?;
    let said = if rests {
        format!(
            "{group} rests in every process within a second, for a day at most; the log keeps what it has not read; \
             `madang groups resume {group}`"
        )
    } else {
        format!("{group} goes on in every process within a second")
    };
    report.text(said).await?;
    Ok(0)
}
