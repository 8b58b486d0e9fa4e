//! `madang check` on a cluster: each service's counters with its rows, and what is derived from several services with
//! those. Each database is asked by itself; nothing reads two of them in one moment.

use std::time::Duration;

use madang_messaging::ConsumerConfig;
use madang_mysql::{CheckReport, MysqlCheck, Service, Sizes};

use super::backing::Cluster;
use super::health::lag;
use super::hot_source;
use crate::commands::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers::{self, HOT_GROUP};

/// How long events that are under way may take to arrive before what is derived from them is not compared.
const ARRIVAL_MAX: Duration = Duration::from_secs(10);
/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Compares everything; names each difference and returns how many.
pub(super) async fn check(cluster: &Cluster, site: &Site, full: bool, output: &Output) -> anyhow::Result<usize> {
    output
        .text("comparing counters with rows service by service, hot scores and the query model with their sources")
        .await?;
    if full {
        output.text("--full looks at the file of an embedded site; here the servers have tools of their own").await?;
    }
    let mut differences = 0;
    let mut sizes = Sizes::default();
    let member = (Service::Member, &cluster.servers.member);
    let others = cluster.servers.databases.iter().map(|(service, database)| (*service, database));
    for (service, database) in std::iter::once(member).chain(others) {
        let (check, service, progress) = (MysqlCheck::new(service, database), service.name(), output.clone());
        let found = check.run(|so_far| progress.progress(service, so_far.parts_done, so_far.parts)).await?;
        say_what_was_compared(service, &found, output).await?;
        for finding in &found.findings {
            output.finding(format!("{service}: {finding}")).await?;
        }
        differences += found.findings.len();
        add(&mut sizes, found.sizes);
    }
    output
        .text(format!(
            "sizes: outbox {}, inbox {}, idempotency keys {}, dead letters of relays {}, revocations {}",
            sizes.outbox, sizes.inbox, sizes.idempotency, sizes.dead_letters, sizes.revocations
        ))
        .await?;
    Ok(differences + hot_scores(cluster, site, output).await?)
}

async fn say_what_was_compared(service: &str, found: &CheckReport, output: &Output) -> anyhow::Result<()> {
    let mut words = format!("{service}: compared {} rows", found.rows());
    if found.boards > 0 {
        words.push_str(&format!(" of {} boards", found.boards));
    }
    if found.awaiting_clean_up > 0 {
        words.push_str(&format!("; {} rows of deleted articles wait to be cleaned up", found.awaiting_clean_up));
    }
    Ok(output.text(words).await?)
}

fn add(sum: &mut Sizes, sizes: Sizes) {
    sum.outbox += sizes.outbox;
    sum.inbox += sizes.inbox;
    sum.idempotency += sizes.idempotency;
    sum.dead_letters += sizes.dead_letters;
    sum.revocations += sizes.revocations;
}

/// Compares the scores of today with the counters they come from, once no event is under way.
async fn hot_scores(cluster: &Cluster, site: &Site, output: &Output) -> anyhow::Result<usize> {
    if let Some(reason) = under_way(cluster, &consumers::config(HOT_GROUP)).await? {
        output.text(format!("not compared: the hot scores of today, because {reason}")).await?;
        return Ok(0);
    }
    let mut compared = hot_source::compare(cluster, site).await?;
    if !compared.differences.is_empty() {
        // Somebody may have written between the looks at two databases.
        tokio::time::sleep(LOOK_AGAIN).await;
        let again = hot_source::compare(cluster, site).await?;
        compared.differences.retain(|difference| again.differences.contains(difference));
    }
    output.text(format!("compared the hot scores of {} articles of today", compared.articles)).await?;
    for difference in &compared.differences {
        output.finding(difference.clone()).await?;
    }
    Ok(compared.differences.len())
}

/// Waits a while for events to arrive; says why not when they do not.
async fn under_way(cluster: &Cluster, group: &ConsumerConfig) -> anyhow::Result<Option<String>> {
    let deadline = tokio::time::Instant::now() + ARRIVAL_MAX;
    loop {
        let unsent = unsent(cluster).await?;
        let reason = match lag(&cluster.servers.log, group).await {
            Ok(lag) if lag.is_none() && unsent == 0 => return Ok(None),
            Ok(_) if unsent > 0 => format!("{unsent} events are not yet sent"),
            Ok(_) => "its group has not heard of everything".to_owned(),
            Err(outage) => outage.to_string(),
        };
        if tokio::time::Instant::now() >= deadline {
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
