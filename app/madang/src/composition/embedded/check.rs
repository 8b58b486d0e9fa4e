//! What a check compares in the file of an embedded site.

use madang_messaging::GroupId;
use madang_sqlite::{CheckDerived, CheckOptions, CheckReport, Sqlite};

use crate::commands::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers::{COMMENT_GROUP, HOT_GROUP, LIKE_GROUP, VIEW_GROUP};

/// Compares counters with rows, and derived data with its source; names each difference and returns how many.
pub(super) async fn check(database: &Sqlite, site: &Site, full: bool, output: &Output) -> anyhow::Result<usize> {
    output.text("comparing board counts, counted blocks, events and offsets with the rows,").await?;
    output
        .text("comments, likes and views with their counters, hot scores and the query model with their sources")
        .await?;
    if full {
        output.text("reading every page of the database file").await?;
    }
    let progress = output.clone();
    let options = CheckOptions { integrity: full, derived: Some(derived(site)) };
    let found = madang_sqlite::check(database, options, move |so_far| {
        progress.progress("boards", so_far.boards_done, so_far.boards);
    });
    let found = found.await?;
    say_what_was_compared(&found, output).await?;
    for finding in &found.findings {
        output.finding(finding.to_string()).await?;
    }
    Ok(found.findings.len())
}

fn derived(site: &Site) -> CheckDerived {
    CheckDerived {
        comment_group: GroupId::new(COMMENT_GROUP),
        like_group: GroupId::new(LIKE_GROUP),
        view_group: GroupId::new(VIEW_GROUP),
        hot_group: GroupId::new(HOT_GROUP),
        days: site.days.clone(),
    }
}

async fn say_what_was_compared(found: &CheckReport, output: &Output) -> anyhow::Result<()> {
    output
        .text(format!("compared {} boards, {} articles, {} events", found.boards, found.articles, found.events))
        .await?;
    output
        .text(format!(
            "compared {} comments, {} likes, {} view counts, {} hot scores, {} counters with the scores of today",
            found.comments, found.likes, found.view_counts, found.hot_scores, found.hot_sources
        ))
        .await?;
    for left_out in &found.left_out {
        output.text(format!("not compared: {left_out}")).await?;
    }
    let sizes = found.sizes;
    output
        .text(format!(
            "sizes: event log {}, idempotency keys {}, dead letters {}, revocations {}",
            sizes.log, sizes.idempotency, sizes.dead_letters, sizes.revocations
        ))
        .await?;
    Ok(())
}
