//! `madang rebuild`: makes derived data anew from what it is derived from.

use super::output::Output;
use crate::composition::site::Site;
use crate::tasks::orphans;

/// Drops the query model; readers bring it back from the owners.
pub(super) async fn read_model(site: &Site, output: &Output) -> anyhow::Result<u8> {
    if !site.backing.holds_query_model(site) {
        output.text("no server runs; the query model is in a server's memory and starts empty").await?;
        return Ok(0);
    }
    let read = site.services.read()?;
    let size = read.report_size().await?;
    read.clear().await?;
    output
        .text(format!(
            "dropped {} articles and {} board lists ({} bytes); each comes back from its owners when it is read",
            size.entries, size.lists, size.bytes
        ))
        .await?;
    Ok(0)
}

/// Computes the ranking anew from the counts it is made of.
pub(super) async fn hot(site: &Site, output: &Output) -> anyhow::Result<u8> {
    let rebuilt = site.services.hot()?.rebuild().await?;
    output.text(format!("computed {} scores anew; {} were wrong", rebuilt.looked_at, rebuilt.corrected)).await?;
    Ok(0)
}

/// Removes what is left of articles that are not there, as their owner says.
pub(super) async fn parts(site: &Site, output: &Output) -> anyhow::Result<u8> {
    let [comments, likes, views] = orphans::remove(site).await?;
    output
        .text(format!("removed comments of {comments}, likes of {likes} and views of {views} articles that are gone"))
        .await?;
    Ok(0)
}
