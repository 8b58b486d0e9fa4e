//! `madang check`: says what it compares, how large what grows is, and names each difference.

use std::time::Duration;

use madang_messaging::GroupId;
use madang_sqlite::{CheckDerived, CheckOptions, CheckReport};

use crate::consumers::{COMMENT_GROUP, LIKE_GROUP, VIEW_GROUP};
use crate::hot;
use crate::report::Report;
use crate::site::Site;

/// Between the two looks at the query model: far longer than a change takes to reach it.
const SECOND_LOOK: Duration = Duration::from_millis(500);

/// Compares counters with rows, and derived data with its source; 1 when anything differs.
pub(super) async fn check(site: &Site, full: bool, report: &Report) -> anyhow::Result<u8> {
    report.text("comparing board counts, counted blocks, events and offsets with the rows,").await?;
    report
        .text("comments, likes and views with their counters, hot scores and the query model with their sources")
        .await?;
    if full {
        report.text("reading every page of the database file").await?;
    }
    let progress = report.clone();
    let options = CheckOptions { integrity: full, derived: Some(derived(site)) };
    let found = site.database.check(options, move |so_far| {
        progress.progress("boards", so_far.boards_done, so_far.boards);
    });
    let found = found.await?;
    say_what_was_compared(&found, report).await?;
    for finding in &found.findings {
        report.finding(finding.to_string()).await?;
    }
    let differences = found.findings.len() + query_model(site, report).await?;
    if differences == 0 {
        report.text("no difference").await?;
        Ok(0)
    } else {
        report.text(format!("{differences} differences")).await?;
        Ok(1)
    }
}

fn derived(site: &Site) -> CheckDerived {
    CheckDerived {
        comment_group: GroupId::new(COMMENT_GROUP),
        like_group: GroupId::new(LIKE_GROUP),
        view_group: GroupId::new(VIEW_GROUP),
        hot_group: GroupId::new(hot::GROUP),
        days: site.days.clone(),
    }
}

async fn say_what_was_compared(found: &CheckReport, report: &Report) -> anyhow::Result<()> {
    report
        .text(format!("compared {} boards, {} articles, {} events", found.boards, found.articles, found.events))
        .await?;
    report
        .text(format!(
            "compared {} comments, {} likes, {} view counts, {} hot scores, {} counters with the scores of today",
            found.comments, found.likes, found.view_counts, found.hot_scores, found.hot_sources
        ))
        .await?;
    for left_out in &found.left_out {
        report.text(format!("not compared: {left_out}")).await?;
    }
    let sizes = found.sizes;
    report
        .text(format!(
            "sizes: event log {}, outbox {}, inbox {}, idempotency keys {}, dead letters {}, revocations {}",
            sizes.log, sizes.outbox, sizes.inbox, sizes.once, sizes.dead_letters, sizes.revocations
        ))
        .await?;
    Ok(())
}

/// Compares the query model of a running server with its owners; tells how many differences stay.
async fn query_model(site: &Site, report: &Report) -> anyhow::Result<usize> {
    if site.groups.names().is_empty() {
        report.text("not compared: the query model, which is in the memory of a server, and none runs").await?;
        return Ok(0);
    }
    let compared = site.read.compare().await?;
    let mut differences = compared.differences;
    if !differences.is_empty() {
        // People go on writing while this looks: what is only on its way is there a moment later.
        tokio::time::sleep(SECOND_LOOK).await;
        differences = site.read.still_differing(differences).await?;
    }
    report.text(format!("compared {} articles of the query model", compared.articles)).await?;
    for difference in &differences {
        report.finding(difference.to_string()).await?;
    }
    Ok(differences.len())
}
