//! Has a site hear of its own events before it moves: the log stays behind, and what it still had to tell would be lost
//! with it. The last views of a server that stopped in order, for one, are in the log and not yet in the hot scores.

use std::time::Duration;

use anyhow::{Context as _, bail};
use madang_messaging::Supervisor;
use tokio::time::Instant;

use crate::commands::report::Report;
use crate::composition;
use crate::composition::site::{GroupProgress, Site};
use crate::config::Settings;
use crate::config::data_directory::DataDirectory;
use crate::config::roles::Roles;
use crate::tasks::consumers::{self, COMMENT_GROUP, LIKE_GROUP, VIEW_GROUP};
use crate::tasks::hot;
use crate::tasks::lag::UP_TO_DATE;

/// Groups whose work is kept; the query model's is not.
const GROUPS: [&str; 4] = [COMMENT_GROUP, LIKE_GROUP, VIEW_GROUP, hot::GROUP];
/// How long they may take.
const CAUGHT_UP_MAX: Duration = Duration::from_secs(600);
/// Between two looks at them.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Looks after which they are mentioned.
const LOOKS_UNSAID: u32 = 10;
const TASKS_STOP: Duration = Duration::from_secs(5);

/// Opens the site, lets its groups finish, and closes it.
pub(super) async fn wait(settings: &Settings, data: &DataDirectory, report: &Report) -> anyhow::Result<()> {
    let site = composition::open(settings, Roles::ALL, Some(data)).await?;
    let tasks = Supervisor::new("copy");
    site.keep(&tasks);
    let consumers = Supervisor::new("consumers");
    let outcome = match consumers::start(&consumers, &site).await {
        Ok(()) => until_done(&site, report).await,
        Err(outage) => Err(outage.into()),
    };
    consumers.shutdown(TASKS_STOP).await;
    tasks.shutdown(TASKS_STOP).await;
    site.close().await;
    outcome
}

async fn until_done(site: &Site, report: &Report) -> anyhow::Result<()> {
    let deadline = Instant::now() + CAUGHT_UP_MAX;
    let mut looks = 0;
    loop {
        let groups = site.backing.groups().await.context("cannot tell how far the consumer groups are")?;
        let behind: Vec<String> = GROUPS.iter().filter_map(|name| behind(name, &groups)).collect();
        if behind.is_empty() {
            return Ok(());
        }
        looks += 1;
        if looks == LOOKS_UNSAID {
            report.text(format!("waiting until the site has heard of its own events: {}", behind.join("; "))).await?;
        }
        if Instant::now() >= deadline {
            bail!("the site does not get to the end of its own events: {}", behind.join("; "));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// How far a group is behind; `None` when it is not.
fn behind(name: &str, groups: &[GroupProgress]) -> Option<String> {
    match groups.iter().find(|group| group.name == name) {
        Some(group) if group.words == UP_TO_DATE => None,
        Some(group) => Some(format!("{name} is {}", group.words)),
        None => Some(format!("{name} has not begun")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_nobody_has_seen_is_not_done() {
        let group = |words: &str| [GroupProgress { name: "like".to_owned(), words: words.to_owned() }];
        assert_eq!(behind("like", &group("up to date")), None);
        assert!(behind("like", &group("2 entries and 1.0 s behind")).is_some());
        assert!(behind("view", &group("up to date")).is_some());
    }
}
