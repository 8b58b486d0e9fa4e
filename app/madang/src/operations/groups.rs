//! `madang groups`: how far each consumer group has come, and have one rest for a while.

use anyhow::bail;

use crate::report::Report;
use crate::site::Site;

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
    let Some(pause) = site.groups.pause_of(group) else {
        match site.groups.names() {
            _ if site.backing.is_shared() => {
                bail!(
                    "a group of a cluster rests when the processes of its role are stopped: the log keeps its messages"
                )
            }
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
