//! `madang check`: says what it compares, how large what grows is, and names each difference.

use std::time::Duration;

use madang_article_read::ReadService;
use madang_board::BoardId;
use madang_board::check::CheckReport;
use madang_search::SearchService;

use super::output::{Output, counted};
use crate::composition::site::Site;
use crate::tasks::consumers::{self, SEARCH_GROUP};

/// Between the two looks at the query model: far longer than a change takes to reach it.
const SECOND_LOOK: Duration = Duration::from_millis(500);

/// Looks at the search index at most: its group is behind while much is written, and catches up.
const SEARCH_LOOKS: usize = 3;
/// Between two looks at how far its group has come.
const SEARCH_PAUSE: Duration = Duration::from_millis(200);

/// Something differs.
const DIFFERS: u8 = 1;
/// Nothing differs of what was compared, and not everything could be.
const NOT_COMPARED: u8 = 2;

/// Compares counters with rows, and derived data with its source; the exit code says whether anything differs, and whether
/// everything could be compared.
pub(super) async fn check(site: &Site, full: bool, output: &Output) -> anyhow::Result<u8> {
    output.text("comparing boards, events, comments, likes and views with their counters,").await?;
    output
        .text("and hot scores and the query model, and samples of the search index, with what they are derived from")
        .await?;
    let report = site.backing.check(site, full, output).await?;
    print(&report, output).await?;
    let differences = report.findings.len() + query_model(site, output).await? + search(site, output).await?;
    if differences > 0 {
        output.text(counted(differences as u64, "difference")).await?;
        return Ok(DIFFERS);
    }
    if !report.left_out.is_empty() {
        output.text("no differences in what was compared, but not everything could be compared").await?;
        return Ok(NOT_COMPARED);
    }
    output.text("no differences").await?;
    Ok(0)
}

/// Prints what the stores found, the same whichever they are.
async fn print(report: &CheckReport, output: &Output) -> anyhow::Result<()> {
    let compared = [
        (report.boards, "boards"),
        (report.articles, "articles"),
        (report.events, "events"),
        (report.comments, "comments"),
        (report.likes, "likes"),
        (report.view_counts, "view counts"),
        (report.hot_scores, "hot scores"),
        (report.hot_sources, "counters with the hot scores of today"),
    ];
    let compared = compared.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let compared: Vec<String> = compared.collect();
    if !compared.is_empty() {
        output.text(format!("compared {}", compared.join(", "))).await?;
    }
    if report.awaiting_clean_up > 0 {
        output
            .text(format!("{} rows of deleted articles are still to be cleaned up", report.awaiting_clean_up))
            .await?;
    }
    for left_out in &report.left_out {
        output.text(format!("not compared: {left_out}")).await?;
    }
    output.text(format!("sizes: {}", report.sizes)).await?;
    for finding in &report.findings {
        output.finding(finding.to_string()).await?;
    }
    Ok(())
}

/// Compares the query model with its owners; tells how many differences stay.
async fn query_model(site: &Site, output: &Output) -> anyhow::Result<usize> {
    if !site.backing.holds_query_model(site) {
        output.text("query model not compared: it is in the memory of a server, and none is running").await?;
        return Ok(0);
    }
    let read = site.services.read()?;
    let compared = read.compare().await?;
    let mut differences = compared.differences;
    if !differences.is_empty() {
        // People go on writing while this looks: what is only on its way is there a moment later.
        tokio::time::sleep(SECOND_LOOK).await;
        differences = read.still_differing(differences).await?;
    }
    output.text(format!("compared {} articles of the query model", compared.articles)).await?;
    for difference in &differences {
        output.finding(difference.to_string()).await?;
    }
    Ok(differences.len() + lists(site, read, output).await?)
}

/// Compares the lists of the query model with their owner; tells how many differences stay.
async fn lists(site: &Site, read: &ReadService, output: &Output) -> anyhow::Result<usize> {
    let boards = site.services.articles()?.boards().await?;
    let boards: Vec<BoardId> = boards.into_iter().map(|known| known.board.board_id).collect();
    let (compared, mut differences) = read.compare_lists(&boards).await?;
    if !differences.is_empty() {
        tokio::time::sleep(SECOND_LOOK).await;
        differences = read.lists_still_differing(differences).await?;
    }
    output.text(format!("compared {compared} board lists of the query model")).await?;
    for difference in &differences {
        output.finding(difference.to_string()).await?;
    }
    let (compared, mut moved) = read.compare_rankings().await?;
    if !moved.is_empty() {
        tokio::time::sleep(SECOND_LOOK).await;
        moved = read.rankings_still_differing(&moved).await?;
    }
    output.text(format!("compared {compared} lists of the site and of what is active")).await?;
    for difference in &moved {
        output.finding(difference.to_string()).await?;
    }
    Ok(differences.len() + moved.len())
}

/// Compares samples of the search index with its owners, in both directions; tells how many differences stay.
async fn search(site: &Site, output: &Output) -> anyhow::Result<usize> {
    let search = site.services.search()?;
    if !search.is_configured() {
        output.text("no search index: this site has no search engine").await?;
        return Ok(0);
    }
    if let Some(reason) = search_behind(site, search).await? {
        output.text(format!("search index not compared: {reason}")).await?;
        return Ok(0);
    }
    let compared = search.compare().await?;
    let mut differences = compared.differences;
    // What is only on its way is there a moment later.
    for _ in 0..SEARCH_LOOKS {
        if differences.is_empty() {
            break;
        }
        tokio::time::sleep(SECOND_LOOK).await;
        differences = search.still_differing(&differences).await?;
    }
    let size = search.size().await?;
    output
        .text(format!(
            "compared {} texts of the search index with their owners, and {} texts of owners with the search index, of {}",
            compared.held, compared.owned, size.documents
        ))
        .await?;
    for difference in &differences {
        output.finding(difference.to_string()).await?;
    }
    Ok(differences.len())
}

/// Why the index cannot be compared: it is being filled, or its group has not read everything. A server does both in a moment,
/// so that it is waited for where one runs.
async fn search_behind(site: &Site, search: &SearchService) -> anyhow::Result<Option<&'static str>> {
    let group = consumers::config(SEARCH_GROUP);
    let mut reason = None;
    for _ in 0..SEARCH_LOOKS {
        reason = if search.is_partial().await? {
            Some("it is being filled, which goes on while a server runs")
        } else if !site.backing.is_caught_up(&group, site.clock.now()).await? {
            Some("events wait for it that a server will apply")
        } else {
            None
        };
        if reason.is_none() || !site.backing.holds_query_model(site) {
            break;
        }
        tokio::time::sleep(SEARCH_PAUSE).await;
    }
    Ok(reason)
}
