//! `madang check`: says what it compares, how large what grows is, and names each difference.

use madang_sqlite::CheckOptions;

use crate::report::Report;
use crate::site::Site;

/// Compares counters with rows; 1 when anything differs.
pub(super) async fn check(site: &Site, full: bool, report: &Report) -> anyhow::Result<u8> {
    report.text("comparing board counts, counted blocks, events and offsets with the rows").await?;
    if full {
        report.text("reading every page of the database file").await?;
    }
    let progress = report.clone();
    let found = site.database.check(CheckOptions { integrity: full }, move |so_far| {
        progress.progress("boards", so_far.boards_done, so_far.boards);
    });
    let found = found.await?;
    report
        .text(format!("compared {} boards, {} articles, {} events", found.boards, found.articles, found.events))
        .await?;
    let sizes = found.sizes;
    report
        .text(format!(
            "sizes: event log {}, outbox {}, inbox {}, idempotency keys {}, dead letters {}, revocations {}",
            sizes.log, sizes.outbox, sizes.inbox, sizes.once, sizes.dead_letters, sizes.revocations
        ))
        .await?;
    for finding in &found.findings {
        report.finding(finding.to_string()).await?;
    }
    if found.is_sound() {
        report.text("no difference").await?;
        Ok(0)
    } else {
        report.text(format!("{} differences", found.findings.len())).await?;
        Ok(1)
    }
}
