//! `madang rebuild`: makes derived data anew from what it is derived from.

use super::output::{Output, counted};
use crate::composition::site::Site;
use crate::tasks::hot_owners::SiteOwners;
use crate::tasks::orphans;

/// Drops the query model; readers bring it back from the owners.
pub(super) async fn read_model(site: &Site, output: &Output) -> anyhow::Result<u8> {
    if !site.backing.holds_query_model(site) {
        output
            .text("nothing to do: no server is running, and the query model, which is in its memory, starts empty")
            .await?;
        return Ok(0);
    }
    let read = site.services.read()?;
    let size = read.report_size().await?;
    read.clear().await?;
    output
        .text(format!(
            "emptied the query model of {} articles and {} board lists ({} bytes); each is loaded again when it is read",
            size.entries, size.lists, size.bytes
        ))
        .await?;
    Ok(0)
}

/// Makes the ranking anew: today's counts from their owners, and each score from its counts.
pub(super) async fn hot(site: &Site, output: &Output) -> anyhow::Result<u8> {
    let rebuilt = site.services.hot()?.rebuild(&SiteOwners::of(site)?).await?;
    output
        .text(format!(
            "compared {} with likes, comments and views and corrected {}",
            counted(rebuilt.asked, "scored article"),
            rebuilt.mended
        ))
        .await?;
    output
        .text(format!("computed {} again and corrected {}", counted(rebuilt.looked_at, "score"), rebuilt.corrected))
        .await?;
    Ok(0)
}

/// Removes what is left of articles that are not there, as their owner says, and takes the marks from those that are.
pub(super) async fn parts(site: &Site, output: &Output) -> anyhow::Result<u8> {
    let [comments, likes, views] = orphans::remove(site).await?;
    output
        .text(format!(
            "removed what articles that no longer exist had left: comments of {comments}, likes of {likes}, views of {views}"
        ))
        .await?;
    let [comments, likes, views] = orphans::restore(site).await?;
    output
        .text(format!(
            "articles that exist are no longer marked as deleted: comments of {comments}, likes of {likes}, views of {views}"
        ))
        .await?;
    if comments + likes + views > 0 {
        output
            .text("now run `madang rebuild read-model` and `madang rebuild hot`, which took these articles for deleted too")
            .await?;
    }
    Ok(0)
}

/// Makes the search index anew, and puts it in the place of the one that is searched.
pub(super) async fn search(site: &Site, output: &Output) -> anyhow::Result<u8> {
    let search = site.services.search()?;
    if !search.is_configured() {
        output.text("nothing to do: this site has no search engine").await?;
        return Ok(0);
    }
    let rebuilt = search.rebuild().await?;
    let indexed = counted(rebuilt.documents, "text");
    if !rebuilt.is_whole {
        anyhow::bail!("another rebuild of the search index was begun, which goes on; this one had indexed {indexed}");
    }
    output.text(format!("indexed {indexed} anew; searches find them from now on")).await?;
    Ok(0)
}
