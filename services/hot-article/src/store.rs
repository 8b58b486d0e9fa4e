//! The port to the store of scores and lists. One method is one transaction.
//!
//! A store keeps a row for each day and article that an event spoke of: counts with their versions, or that the article is
//! gone. The score beside them and the ranking by it are derived. Final lists are kept on their own.

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::StoreError;
use madang_messaging::{GroupId, Position};

use crate::{Day, HotChange, HotItem, HotList, Tally};

/// Articles of one ranking that can be asked for at most.
pub const TOP_MAX: usize = 10_000;

/// How far a consumer group has come once the changes beside it are applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    /// The group.
    pub group: GroupId,
    /// The last position of each topic and partition that is done.
    pub positions: Vec<Position>,
}

/// What applying changes did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotApplied {
    /// Articles that stand differently now.
    pub changed: u64,
    /// Whether the offsets were stored in the same transaction; a store apart from the log cannot.
    pub offsets_stored: bool,
}

/// How far old days are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// Rows that this slice removed.
    pub removed: u64,
    /// Whether nothing older is left.
    pub done: bool,
}

/// A slice of the ranking that was computed anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankingSlice {
    /// Rows compared with their counts.
    pub looked_at: u64,
    /// Rows whose score was wrong.
    pub corrected: u64,
    /// Where the next slice starts; `None` after the last.
    pub next: Option<(Day, ArticleId)>,
}

/// A tally that is to take the place of another, as the owners have it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// The article.
    pub article_id: ArticleId,
    /// What was held before the owners were asked.
    pub held: Tally,
    /// What the owners say.
    pub owned: Tally,
}

/// Where scores and lists are kept.
#[async_trait]
pub trait HotStore: Send + Sync {
    /// Merges changes by version, keeps scores and ranking with them, and stores the offsets in the same transaction where
    /// it can. Of a day whose list is final only deletions are applied, and those leave the list too; that a day is final
    /// is known inside the transaction. Applying the same again changes nothing.
    async fn apply(&self, changes: Vec<HotChange>, done: Offsets) -> Result<HotApplied, StoreError>;

    /// The best articles of a day by their scores, whether its list is final or not; at most [`TOP_MAX`].
    async fn top(&self, day: Day, limit: usize) -> Result<Vec<HotItem>, StoreError>;
    /// The lists of days in the order asked, of one moment: final ones as they were kept, the others by their scores.
    async fn lists(&self, days: Vec<Day>) -> Result<Vec<HotList>, StoreError>;

    /// Keeps the best of a day as its final list. True when it was not final yet; after that it changes nothing.
    async fn finalise(&self, day: Day) -> Result<bool, StoreError>;
    /// Whether the list of a day is final.
    async fn is_final(&self, day: Day) -> Result<bool, StoreError>;

    /// What is known of articles of a day, in the order asked; nothing is known of one that no event spoke of. A ranking
    /// kept beside the store follows by this. `None` when the store does not tell, and then none can be kept.
    async fn tallies(&self, _day: Day, _articles: Vec<ArticleId>) -> Result<Option<Vec<Tally>>, StoreError> {
        Ok(None)
    }
    /// What is known of up to `slice` articles of a day by id, after `after`; fewer only at the end. A ranking kept beside
    /// the store is made anew from this. `None` when the store does not tell.
    async fn tallies_after(
        &self,
        _day: Day,
        _after: Option<ArticleId>,
        _slice: usize,
    ) -> Result<Option<Vec<(ArticleId, Tally)>>, StoreError> {
        Ok(None)
    }

    /// Puts what the owners say in the place of tallies that still stand as they were held, scores and ranking with them.
    /// Here versions may fall and a deletion may be taken back, which no event can do. Of a day whose list is final only
    /// deletions are taken. The articles that stand differently by now, which are left as they are.
    async fn replace(&self, day: Day, tallies: Vec<Replacement>) -> Result<Vec<ArticleId>, StoreError>;

    /// Forgets scores, lists and marks of the days before `day`, up to `slice` articles at once.
    async fn forget_before(&self, day: Day, slice: usize) -> Result<Forgotten, StoreError>;
    /// Computes the scores of up to `slice` articles anew from their counts, after `after`.
    async fn rebuild_ranking(&self, after: Option<(Day, ArticleId)>, slice: usize) -> Result<RankingSlice, StoreError>;
}
