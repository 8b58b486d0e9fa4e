//! The scores of the present day against the counters they come from. Only the present day can be compared: counters go on
//! after a day has ended, and its scores do not.

use std::collections::{HashMap, HashSet};

use anyhow::Context as _;
use madang_board::check::HotFinding;
use madang_board::{ArticleId, BoardId};
use madang_hot_article::{HotItem, HotStore as _, TOP_MAX};
use madang_kernel::{Id as _, PageSize};
use madang_view::{StoredViews, ViewStore as _};

use super::backing::Cluster;
use crate::composition::site::Site;

/// Articles of today that are compared at most; more tell nothing new.
const ARTICLES_MAX: usize = 50_000;
/// Articles asked about at once.
const SLICE: usize = 100;
/// How far an id may lie ahead of the clock: one made just before midnight may name the next day.
const ID_AHEAD_MAX_MS: i64 = 10_000;

/// What was compared.
pub(super) struct Compared {
    /// How many counters: three of each article.
    pub(super) counters: u64,
    /// What differs.
    pub(super) findings: Vec<HotFinding>,
}

/// Likes, comments and views of an article.
type Counts = [u64; 3];

/// Compares every article of today with its score, and every score of today with its article.
pub(super) async fn compare(cluster: &Cluster, site: &Site) -> anyhow::Result<Compared> {
    const NOT_HERE: &str = "this process has not the role hot-article";
    let (stored, ranking) =
        (cluster.stores.scores.as_ref().context(NOT_HERE)?, site.stores.hot.as_ref().context(NOT_HERE)?);
    let today = site.days.day_of(site.clock.now());
    let scored: Vec<HotItem> = stored.top(today, TOP_MAX).await?;
    let ranked: Vec<HotItem> = ranking.top(today, TOP_MAX).await?;
    let is_whole = scored.len() < TOP_MAX;
    let first_differing = (0..scored.len().max(ranked.len())).find(|place| scored.get(*place) != ranked.get(*place));
    let scored: HashMap<ArticleId, Counts> =
        scored.into_iter().map(|item| (item.article_id, counts_of(&item))).collect();
    let articles = articles_of_today(site).await?;
    let present: HashSet<ArticleId> = articles.iter().copied().collect();
    let ranking = first_differing.map(|index| HotFinding::Ranking { place: index + 1 });
    let mut findings: Vec<HotFinding> = ranking.into_iter().collect();
    for slice in articles.chunks(SLICE) {
        for (article, counted) in slice.iter().zip(counted(cluster, site, slice).await?) {
            let score = scored.get(article).copied();
            // Past the end of a cut ranking nothing is known.
            let differs = score.unwrap_or_default() != counted && (score.is_some() || is_whole);
            if differs {
                findings.push(HotFinding::Counts { article_id: *article, scored: score.unwrap_or_default(), counted });
            }
        }
    }
    if articles.len() < ARTICLES_MAX {
        let first = first_compared_ms(site);
        let gone =
            scored.keys().filter(|article| !present.contains(article) && article.issued_at().as_millis() >= first);
        findings.extend(gone.map(|article| HotFinding::Presence { article_id: *article, is_there: false }));
    }
    Ok(Compared { counters: 3 * articles.len() as u64, findings })
}

fn counts_of(item: &HotItem) -> Counts {
    [item.like_count, item.comment_count, item.view_count]
}

fn first_compared_ms(site: &Site) -> i64 {
    site.days.start_of(site.days.day_of(site.clock.now())).as_millis() + ID_AHEAD_MAX_MS
}

/// The counters of articles, as their owners have stored them.
async fn counted(cluster: &Cluster, site: &Site, articles: &[ArticleId]) -> anyhow::Result<Vec<Counts>> {
    let services = &site.services;
    let likes = services.likes.as_ref().context("this process has not the role like")?;
    let comments = services.comments.as_ref().context("this process has not the role comment")?;
    let views = cluster.stores.views.as_ref().context("this process has not the role view")?;
    let likes = likes.counts(articles.to_vec()).await?;
    let comments = comments.counts(articles.to_vec()).await?;
    let views = views.find_many(articles.to_vec()).await?;
    let counts = likes.into_iter().zip(comments).zip(views).map(|((likes, comments), views)| {
        let views = if let StoredViews::Count(views) = views { views } else { 0 };
        let (likes, comments) =
            (likes.map_or(0, |count| count.like_count), comments.map_or(0, |count| count.comment_count));
        [likes, comments, views]
    });
    Ok(counts.collect())
}

/// The articles that were written today and are still there.
async fn articles_of_today(site: &Site) -> anyhow::Result<Vec<ArticleId>> {
    let (articles, first) = (site.services.articles()?, first_compared_ms(site));
    let size = PageSize::new("slice", i64::try_from(SLICE)?)?;
    let mut today = Vec::new();
    let boards: Vec<BoardId> = articles.boards().await?.into_iter().map(|known| known.board.board_id).collect();
    for board in boards {
        let mut before = None;
        loop {
            let step = articles.scroll(board, before, size).await?;
            let ids = step.items.iter().map(|item| item.article_id);
            let of_today = ids.take_while(|article| article.issued_at().as_millis() >= first);
            let found = today.len();
            today.extend(of_today);
            let whole_step = today.len() - found == step.items.len();
            before = step.next;
            if before.is_none() || !whole_step || today.len() >= ARTICLES_MAX {
                break;
            }
        }
    }
    Ok(today)
}
