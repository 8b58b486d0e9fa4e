//! A small site to test on: changes of articles by number, and lists as numbers.

use std::sync::Arc;

use madang_board::ArticleId;
use madang_hot_article::{Counts, Day, HotApplied, HotChange, HotItem, HotStore, Offsets, Reading, Tally};
use madang_kernel::Id;
use madang_messaging::{GroupId, Position};

use super::HotStoreHarness;

/// The topic that most cases read.
pub(super) const TOPIC: &str = "madang.like.v1";

pub(super) struct Site<H> {
    pub(super) harness: H,
    pub(super) store: Arc<dyn HotStore>,
}

impl<H: HotStoreHarness> Site<H> {
    pub(super) async fn open(harness: H) -> Self {
        harness.join(&group(), &[TOPIC.to_owned()]).await;
        let store = harness.store();
        Self { harness, store }
    }

    /// Applies changes beside offsets that say nothing new.
    pub(super) async fn apply(&self, changes: Vec<HotChange>) -> HotApplied {
        self.store.apply(changes, done(0)).await.unwrap()
    }

    /// The ranking of a day as (article, score).
    pub(super) async fn ranking(&self, day: Day) -> Vec<(i64, u64)> {
        pairs(&self.store.top(day, 1_000).await.unwrap())
    }

    /// The list of a day as (article, score), and whether it is final.
    pub(super) async fn list(&self, day: Day) -> (Vec<(i64, u64)>, bool) {
        let lists = self.store.lists(vec![day]).await.unwrap();
        assert_eq!((lists.len(), lists[0].date), (1, day));
        (pairs(&lists[0].items), lists[0].is_final)
    }

    pub(super) async fn assert_sound(&self) {
        assert_eq!(self.harness.differences().await, Vec::<String>::new());
    }
}

pub(super) fn group() -> GroupId {
    GroupId::new("hot-article")
}

pub(super) fn done(offset: i64) -> Offsets {
    Offsets { group: group(), positions: vec![Position { topic: TOPIC.to_owned(), partition: 0, offset }] }
}

/// The day `number` of March 2026.
pub(super) fn day(number: u8) -> Day {
    format!("2026-03-{number:02}").parse().unwrap()
}

/// Likes of an article on the first day: a count and its version.
pub(super) fn likes(article: i64, count: u64, version: u64) -> HotChange {
    change(article, Counts { likes: Reading::new(count, version), ..Counts::default() })
}

/// Views of an article on the first day: a count and its version.
pub(super) fn views(article: i64, count: u64, version: u64) -> HotChange {
    change(article, Counts { views: Reading::new(count, version), ..Counts::default() })
}

pub(super) fn change(article: i64, counts: Counts) -> HotChange {
    HotChange { day: day(1), article_id: ArticleId::from_raw(article), tally: Tally::Live(counts) }
}

/// A removal of an article of the first day, or its end, at the article's version.
pub(super) fn hidden(article: i64, is_hidden: bool, version: u64) -> HotChange {
    change(article, Counts { hidden: Reading::new(u64::from(is_hidden), version), ..Counts::default() })
}

pub(super) fn deletion(article: i64) -> HotChange {
    HotChange { tally: Tally::Gone, ..views(article, 0, 0) }
}

pub(super) fn pairs(items: &[HotItem]) -> Vec<(i64, u64)> {
    items.iter().map(|item| (item.article_id.raw(), item.score)).collect()
}
