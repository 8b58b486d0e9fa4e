//! `madang check` on a cluster: each service's counters with its rows, and what is derived from several services with
//! those. Each database is asked by itself; nothing reads two of them in one moment.

use std::time::Duration;

use anyhow::Context as _;
use madang_board::check::{CheckFinding, CheckReport, FINDINGS_MAX, HotFinding};
use madang_hot_article::{Compared, HotStore as _, TOP_MAX};
use madang_messaging::ConsumerConfig;
use madang_mysql::MysqlCheck;
use tokio::time::Instant;

use super::backing::Cluster;
use super::health::lag_of;
use crate::commands::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers::{self, HOT_GROUP};
use crate::tasks::hot_owners::SiteOwners;
use crate::tasks::orphans;

/// How long events that are under way may take to arrive before what is derived from them is not compared.
const ARRIVAL_MAX: Duration = Duration::from_secs(10);
/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Compares everything.
pub(super) async fn check(cluster: &Cluster, site: &Site, full: bool, output: &Output) -> anyhow::Result<CheckReport> {
    let mut report = CheckReport::default();
    if full {
        output.text("the pages of the database files are left to the servers' own tools").await?;
    }
    for (service, database) in cluster.servers.of_all() {
        let (check, service, progress) = (MysqlCheck::new(service, database), service.name(), output.clone());
        report.add(check.run(|so_far| progress.progress(service, so_far.done, so_far.total)).await?);
    }
    let deadline = Instant::now() + ARRIVAL_MAX;
    orphans(cluster, site, deadline, &mut report).await?;
    hot_scores(cluster, site, deadline, &mut report).await?;
    Ok(report)
}

/// Looks for what is left of articles that are gone, and for marks on those that are not, once no deletion is under way.
async fn orphans(cluster: &Cluster, site: &Site, deadline: Instant, report: &mut CheckReport) -> anyhow::Result<()> {
    for (part, group) in orphans::PARTS {
        if let Some(reason) = under_way(cluster, &consumers::config(group), deadline).await? {
            report.left_out.push(format!("{part} of articles that are gone, because {reason}"));
            continue;
        }
        let mut found = orphans::find(site, part, FINDINGS_MAX).await?;
        if !found.is_empty() {
            // Somebody may have deleted them between the looks at two databases.
            tokio::time::sleep(LOOK_AGAIN).await;
            let again = orphans::find(site, part, FINDINGS_MAX).await?;
            found.retain(|article| again.contains(article));
        }
        found.into_iter().for_each(|article_id| report.found(CheckFinding::WithoutArticle { article_id, part }));
        // Nobody takes a mark away, so there is nothing to look at again.
        let marked = orphans::find_wrongly_marked(site, part, FINDINGS_MAX).await?;
        marked.into_iter().for_each(|article_id| report.found(CheckFinding::MarkedAsGone { article_id, part }));
    }
    Ok(())
}

/// Compares the scores of today with the counters they come from, once no event is under way.
async fn hot_scores(cluster: &Cluster, site: &Site, deadline: Instant, report: &mut CheckReport) -> anyhow::Result<()> {
    if let Some(reason) = under_way(cluster, &consumers::config(HOT_GROUP), deadline).await? {
        report.left_out.push(format!("the hot scores of today, because {reason}"));
        return Ok(());
    }
    let owners = SiteOwners::of(site)?;
    let look = async || -> anyhow::Result<Compared> {
        let mut compared = site.services.hot()?.compare(&owners).await?;
        compared.findings.extend(ranking(cluster, site).await?);
        Ok(compared)
    };
    let mut compared = look().await?;
    if !compared.findings.is_empty() {
        // Somebody may have written between the looks at two databases.
        tokio::time::sleep(LOOK_AGAIN).await;
        let again = look().await?;
        compared.findings.retain(|finding| again.findings.contains(finding));
    }
    report.hot_sources += compared.counters;
    compared.findings.into_iter().for_each(|finding| report.found(finding));
    Ok(())
}

/// Whether today's ranking in Redis is in the order of the stored scores.
async fn ranking(cluster: &Cluster, site: &Site) -> anyhow::Result<Option<HotFinding>> {
    const NOT_HERE: &str = "this process has not the role hot-article";
    let (stored, ranked) =
        (cluster.stores.scores.as_ref().context(NOT_HERE)?, site.stores.hot.as_ref().context(NOT_HERE)?);
    let today = site.days.day_of(site.clock.now());
    let (scored, ranked) = (stored.top(today, TOP_MAX).await?, ranked.top(today, TOP_MAX).await?);
    let differs = (0..scored.len().max(ranked.len())).find(|place| scored.get(*place) != ranked.get(*place));
    Ok(differs.map(|index| HotFinding::Ranking { place: index + 1 }))
}

/// Waits a while for events to arrive; says why not when they do not.
async fn under_way(cluster: &Cluster, group: &ConsumerConfig, deadline: Instant) -> anyhow::Result<Option<String>> {
    loop {
        let unsent = unsent(cluster).await?;
        let reason = match lag_of(&cluster.servers.log, group).await {
            Ok(lag) if lag.is_none() && unsent == 0 => return Ok(None),
            Ok(_) if unsent > 0 => format!("{unsent} events are not yet sent"),
            Ok(_) => "its consumer group has a backlog".to_owned(),
            Err(outage) => outage.to_string(),
        };
        if Instant::now() >= deadline {
            return Ok(Some(reason));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn unsent(cluster: &Cluster) -> anyhow::Result<u64> {
    let mut unsent = 0;
    for (_, database) in &cluster.servers.databases {
        unsent += database.sizes().await?.outbox;
    }
    Ok(unsent)
}
