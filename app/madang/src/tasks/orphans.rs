//! Comments, likes and views that do not fit their articles: what is left of one that is not there, because its deletion was
//! missed, and marks of a deletion on one that is. The owner of articles is asked.

use anyhow::Context as _;
use madang_board::ArticleId;
use madang_board::check::ArticlePart;

use super::consumers::{COMMENT_GROUP, LIKE_GROUP, VIEW_GROUP};
use crate::composition::site::Site;

/// The parts of articles, each with the group that would have removed them.
pub(crate) const PARTS: [(ArticlePart, &str); 3] =
    [(ArticlePart::Comments, COMMENT_GROUP), (ArticlePart::Likes, LIKE_GROUP), (ArticlePart::Views, VIEW_GROUP)];

/// Does the same with the deletions of a part, whichever it is.
macro_rules! of_part {
    ($site:expr, $part:expr, |$deletions:ident| $body:expr) => {{
        let lookup = $site.services.article_lookup.clone();
        match $part {
            ArticlePart::Comments => {
                let store = $site.stores.comments.clone().context("this process has not the role comment")?;
                let $deletions = madang_comment::article_deletions(store, lookup);
                $body
            }
            ArticlePart::Likes => {
                let store = $site.stores.likes.clone().context("this process has not the role like")?;
                let $deletions = madang_like::article_deletions(store, lookup, $site.ids.clone());
                $body
            }
            ArticlePart::Views => {
                let $deletions = madang_view::article_deletions($site.services.views()?.clone());
                $body
            }
        }
    }};
}

/// The articles that have such parts and are not there; at most `limit`.
pub(crate) async fn find(site: &Site, part: ArticlePart, limit: usize) -> anyhow::Result<Vec<ArticleId>> {
    Ok(of_part!(site, part, |deletions| deletions.orphans(limit).await?))
}

/// The articles whose parts are marked as gone and that are there; at most `limit`.
pub(crate) async fn find_wrongly_marked(
    site: &Site,
    part: ArticlePart,
    limit: usize,
) -> anyhow::Result<Vec<ArticleId>> {
    Ok(of_part!(site, part, |deletions| deletions.wrongly_marked(limit).await?))
}

/// Takes the marks from them; tells of how many articles, part by part.
pub(crate) async fn restore(site: &Site) -> anyhow::Result<[u64; 3]> {
    let mut restored = [0; 3];
    for ((part, _), restored) in PARTS.into_iter().zip(&mut restored) {
        *restored = of_part!(site, part, |deletions| deletions.restore_wrongly_marked().await?);
    }
    Ok(restored)
}

/// Removes what is left of articles that are not there; tells of how many articles, part by part.
pub(crate) async fn remove(site: &Site) -> anyhow::Result<[u64; 3]> {
    let mut removed = [0; 3];
    for ((part, _), removed) in PARTS.into_iter().zip(&mut removed) {
        *removed = of_part!(site, part, |deletions| deletions.remove_orphans().await?);
    }
    Ok(removed)
}
