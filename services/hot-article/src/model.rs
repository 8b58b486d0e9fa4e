//! The lists as they are handed out: more candidates than are shown, because some may have gone a moment ago.

use std::cmp::Reverse;

use madang_board::ArticleId;

use crate::Day;

/// Articles that a list shows.
pub const SHOWN_MAX: usize = 10;
/// Articles that a list holds, so that deletions leave enough to show.
pub const LISTED_MAX: usize = 20;

const _: () = assert!(SHOWN_MAX <= LISTED_MAX);

/// An article of a list, with the counts of its day. Only what has a score above zero is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotItem {
    /// The article.
    pub article_id: ArticleId,
    /// What it is ranked by.
    pub score: u64,
    /// Likes on that day.
    pub like_count: u64,
    /// Comments on that day.
    pub comment_count: u64,
    /// Views on that day.
    pub view_count: u64,
}

impl HotItem {
    /// Sorts the best first; of equals the earlier article.
    pub fn rank(&self) -> (Reverse<u64>, ArticleId) {
        (Reverse(self.score), self.article_id)
    }
}

/// The best articles of a day, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotList {
    /// The day.
    pub date: Day,
    /// Whether nothing but a deletion can change it any more.
    pub is_final: bool,
    /// At most [`LISTED_MAX`] candidates.
    pub items: Vec<HotItem>,
}

impl HotList {
    /// The list as it is shown: without the articles that are not there any more, cut to [`SHOWN_MAX`].
    #[must_use]
    pub fn shown(mut self, is_there: impl Fn(ArticleId) -> bool) -> Self {
        self.items.retain(|item| is_there(item.article_id));
        self.items.truncate(SHOWN_MAX);
        self
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn item(article: i64, score: u64) -> HotItem {
        let article_id = ArticleId::from_raw(article);
        HotItem { article_id, score, like_count: 0, comment_count: 0, view_count: score }
    }

    #[test]
    fn of_equals_the_earlier_article_comes_first() {
        let mut items = [item(3, 5), item(1, 5), item(2, 9), item(4, 1)];
        items.sort_by_key(HotItem::rank);
        let order: Vec<_> = items.iter().map(|item| item.article_id.raw()).collect();
        assert_eq!(order, [2, 1, 3, 4]);
    }

    #[test]
    fn what_is_gone_gives_its_place_to_the_next() {
        let items = (1..=20).map(|article| item(article, 100 - article as u64)).collect();
        let list = HotList { date: "2026-03-01".parse().unwrap(), is_final: true, items };
        let shown = list.clone().shown(|article| article.raw() % 3 != 0);
        let order: Vec<_> = shown.items.iter().map(|item| item.article_id.raw()).collect();
        assert_eq!(order, [1, 2, 4, 5, 7, 8, 10, 11, 13, 14]);
        assert_eq!(list.shown(|article| article.raw() < 3).items.len(), 2);
    }
}
