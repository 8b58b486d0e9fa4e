//! Lists compared with a plain sorted set, after random changes and deep in a large board.

use std::collections::BTreeSet;
use std::sync::Arc;

use madang_article::DeleteOutcome;
use madang_board::ArticleId;
use madang_kernel::Id;
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{FIRST_ARTICLE, SHARD_MASK, Site, ids, page_size};

/// Enough for the two newest super-blocks and a part of a block.
const DEEP_ARTICLES: usize = 65_300;
/// Callers that fill the deep board at the same time.
const FILLERS: usize = 256;

pub(super) async fn random_changes_agree_with_a_model<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut model: BTreeSet<i64> = fill(&site, 2_500).await;
    let mut chance = Chance(0x6d61_6461_6e67);
    for turn in 0..900 {
        match chance.below(10) {
            // In order, as the generator issues them.
            0..4 => {
                model.insert(site.create().await.article_id.raw());
            }
            // Late: below everything, or between two that exist.
            4..6 => {
                let id = ((1 + chance.below(FIRST_ARTICLE as u64) as i64) & !SHARD_MASK).max(1);
                if model.insert(id) {
                    site.create_from(site.draft_at(id, site.board)).await;
                }
            }
            _ => {
                let id = *model.iter().nth(chance.below(model.len() as u64) as usize).unwrap();
                model.remove(&id);
                assert_eq!(site.delete(ArticleId::from_raw(id)).await, DeleteOutcome::Deleted);
            }
        }
        if turn % 10 == 0 {
            compare(&site, &model, &mut chance).await;
        }
    }
    site.assert_sound().await;
}

pub(super) async fn deep_pages_are_exact_through_both_levels_of_blocks<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut model = fill(&site, DEEP_ARTICLES).await;
    let mut chance = Chance(7);
    for _ in 0..100 {
        compare(&site, &model, &mut chance).await;
    }
    // A hole across several blocks, and the newest of all.
    let mut doomed: Vec<i64> = model.iter().skip(20_000).take(1_500).copied().collect();
    doomed.extend(model.iter().rev().take(5));
    for id in doomed {
        model.remove(&id);
        assert_eq!(site.delete(ArticleId::from_raw(id)).await, DeleteOutcome::Deleted);
    }
    for _ in 0..100 {
        compare(&site, &model, &mut chance).await;
    }
    let last = model.len().div_ceil(30) as i64;
    let page = site.page(last, 30).await;
    assert_eq!(ids(&page.items).last(), model.first(), "the last page ends with the oldest article");
    site.assert_sound().await;
}

/// One random page, one random step and the count.
async fn compare<H: ArticleStoreHarness>(site: &Site<H>, model: &BTreeSet<i64>, chance: &mut Chance) {
    let size = 1 + chance.below(100) as usize;
    let number = 1 + chance.below(model.len() as u64 / size as u64 + 2) as usize;
    let expected: Vec<i64> = model.iter().rev().skip((number - 1) * size).take(size).copied().collect();
    let page = site.page(number as i64, size as i64).await;
    assert_eq!(ids(&page.items), expected, "page {number} of {size}");

    let before = 1 + chance.below(2 * FIRST_ARTICLE as u64) as i64;
    let expected: Vec<i64> = model.range(..before).rev().take(size).copied().collect();
    let step = site.store.scroll(site.board, Some(ArticleId::from_raw(before)), page_size(size as i64)).await.unwrap();
    assert_eq!(ids(&step.items), expected, "{size} before {before}");
    assert_eq!(site.count().await, model.len() as u64);
}

async fn fill<H: ArticleStoreHarness>(site: &Arc<Site<H>>, articles: usize) -> BTreeSet<i64> {
    let mut fillers = JoinSet::new();
    for filler in 0..FILLERS {
        let site = Arc::clone(site);
        let share = articles / FILLERS + usize::from(filler < articles % FILLERS);
        fillers.spawn(async move {
            let mut made = Vec::with_capacity(share);
            for _ in 0..share {
                made.push(site.create().await.article_id.raw());
            }
            made
        });
    }
    fillers.join_all().await.into_iter().flatten().collect()
}

/// Repeatable chance (splitmix64): a failure is the same failure next time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % limit.max(1)
    }
}
