//! Many callers at once: everything acknowledged has its own place and is counted and reported once.

use std::collections::HashSet;
use std::sync::Arc;

use madang_board::{ArticleId, CommentMode};
use madang_kernel::Id;
use tokio::task::JoinSet;

use super::CommentStoreHarness;
use super::site::{Site, ids};

const REPLIERS: usize = 64;

pub(super) async fn concurrent_repliers_get_different_paths<H: CommentStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness, CommentMode::Tree));
    let parent = site.reply(None).await;
    let mut repliers = JoinSet::new();
    for _ in 0..REPLIERS {
        let (site, parent) = (Arc::clone(&site), parent.comment_id);
        repliers.spawn(async move { site.reply(Some(parent)).await.path.unwrap() });
    }
    let paths: HashSet<_> = repliers.join_all().await.into_iter().collect();
    assert_eq!(paths.len(), REPLIERS);
    assert_all_reported(&site).await;
}

pub(super) async fn concurrent_repliers_of_two_levels_are_all_counted<H: CommentStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness, CommentMode::TwoLevel));
    let parent = site.reply(None).await.comment_id;
    let mut repliers = JoinSet::new();
    for _ in 0..REPLIERS {
        let site = Arc::clone(&site);
        repliers.spawn(async move { site.reply(Some(parent)).await.comment_id });
    }
    assert_eq!(repliers.join_all().await.into_iter().collect::<HashSet<_>>().len(), REPLIERS);
    assert_all_reported(&site).await;
}

async fn assert_all_reported<H: CommentStoreHarness>(site: &Site<H>) {
    let total = REPLIERS as u64 + 1;
    let count = site.count().await;
    assert_eq!((count.comment_count, count.row_count, count.version), (total, total, total));
    let versions: Vec<_> = site.events().await.iter().map(|event| event.version).collect();
    assert_eq!(versions, (1..=total).collect::<Vec<_>>(), "in commit order");
    site.assert_sound().await;
}

pub(super) async fn a_cursor_list_skips_and_repeats_nothing_while_others_write<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    for (mode, article) in [(CommentMode::TwoLevel, 71), (CommentMode::Tree, 72)] {
        (site.mode, site.article) = (mode, ArticleId::from_raw(article));
        let shared = Arc::new(site);
        let mut before = Vec::new();
        for _ in 0..REPLIERS {
            before.push(shared.reply(None).await.comment_id);
        }
        let mut writers = JoinSet::new();
        for parent in before.clone() {
            let site = Arc::clone(&shared);
            writers.spawn(async move {
                site.reply(Some(parent)).await;
                site.reply(None).await;
            });
        }
        let walked = ids(&shared.walk(3).await);
        assert_eq!(walked.iter().collect::<HashSet<_>>().len(), walked.len(), "nothing twice");
        let old: Vec<_> = walked.iter().filter(|id| before.contains(id)).copied().collect();
        assert_eq!(old, before, "everything that was there, in order");
        writers.join_all().await;
        assert_eq!(shared.walk(100).await.len(), 3 * REPLIERS);
        site = Arc::into_inner(shared).unwrap();
    }
    site.assert_sound().await;
}
