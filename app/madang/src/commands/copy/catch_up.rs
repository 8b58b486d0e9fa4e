//! Lets the consumer groups of a site reach the end of its event log before the site moves: the log stays behind, and with it
//! what they have not consumed. The last views of a server that stopped in order, for one, are in the log and not yet in the
//! hot scores.

use std::time::Duration;

use anyhow::{Context as _, bail};
use madang_messaging::Supervisor;
use tokio::time::Instant;

use crate::commands::output::Output;
use crate::composition;
use crate::composition::site::{GroupLagText, Site};
use crate::config::Settings;
use crate::config::data_directory::DataDirectory;
use crate::config::roles::Roles;
use crate::tasks::consumers::{self, COMMENT_GROUP, HOT_GROUP, LIKE_GROUP, VIEW_GROUP};
use crate::tasks::lag::UP_TO_DATE;

/// Groups whose work is kept; the query model's is not.
const GROUPS: [&str; 4] = [COMMENT_GROUP, LIKE_GROUP, VIEW_GROUP, HOT_GROUP];
/// How long they may take.
const CATCH_UP_MAX: Duration = Duration::from_secs(600);
/// How often their lag is read.
const POLL: Duration = Duration::from_millis(100);
/// Polls after which the wait is mentioned.
const POLLS_UNMENTIONED: u32 = 10;
const TASKS_STOP: Duration = Duration::from_secs(5);

/// Opens the site, lets its groups finish, and closes it.
pub(super) async fn wait(settings: &Settings, data: &DataDirectory, output: &Output) -> anyhow::Result<()> {
    let site = composition::open(settings, Roles::ALL, Some(data)).await?;
    let tasks = Supervisor::new("copy");
    site.keep(&tasks);
    let consumers = Supervisor::new("consumers");
    let outcome = match consumers::start(&consumers, &site).await {
        Ok(()) => until_done(&site, output).await,
        Err(outage) => Err(outage.into()),
    };
    consumers.shutdown(TASKS_STOP).await;
    tasks.shutdown(TASKS_STOP).await;
    site.close().await;
    outcome
}

async fn until_done(site: &Site, output: &Output) -> anyhow::Result<()> {
    let deadline = Instant::now() + CATCH_UP_MAX;
    let mut polls = 0;
    loop {
        let groups = site.backing.groups(site).await.context("cannot read the lag of the consumer groups")?;
        let behind: Vec<String> = GROUPS.iter().filter_map(|name| behind(name, &groups)).collect();
        if behind.is_empty() {
            return Ok(());
        }
        polls += 1;
        if polls == POLLS_UNMENTIONED {
            output
                .text(format!(
                    "waiting for the consumer groups of the site to reach the end of its event log: {}",
                    behind.join("; ")
                ))
                .await?;
        }
        if Instant::now() >= deadline {
            bail!(
                "the consumer groups of the site did not reach the end of its event log within {} s: {}",
                CATCH_UP_MAX.as_secs(),
                behind.join("; ")
            );
        }
        tokio::time::sleep(POLL).await;
    }
}

/// How far a group is behind; `None` when it is not.
fn behind(name: &str, groups: &[GroupLagText]) -> Option<String> {
    match groups.iter().find(|group| group.name == name) {
        Some(group) if group.lag == UP_TO_DATE => None,
        Some(group) => Some(format!("{name} is {}", group.lag)),
        None => Some(format!("{name} has not started")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_nobody_has_seen_is_not_done() {
        let group = |lag: &str| [GroupLagText { name: "like".to_owned(), lag: lag.to_owned() }];
        assert_eq!(behind("like", &group("up to date")), None);
        assert!(behind("like", &group("2 entries and 1.0 s behind")).is_some());
        assert!(behind("view", &group("up to date")).is_some());
    }
}
