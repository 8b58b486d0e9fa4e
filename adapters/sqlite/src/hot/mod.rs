//! Scores of hot articles on SQLite: a batch of changes, the ranking by them and the group's offset in one transaction.

mod apply;
mod list;
mod progress;
mod row;
mod upkeep;

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_hot_article::{
    Day, Forgotten, HotApplied, HotChange, HotItem, HotList, HotStore, Offsets, RankingSlice, Replacement, Tally,
};
use madang_kernel::StoreError;

use crate::{Priority, Sqlite};

pub(crate) use list::{kept, top};
pub use progress::SqliteProgress;
pub(crate) use row::{COUNT_COLUMNS, tally};

/// Hot articles in one SQLite file. Nobody waits for a score, so all of it is background work.
#[derive(Clone)]
pub struct SqliteHot {
    db: Sqlite,
}

impl SqliteHot {
    /// The store in `db`, which also holds the log whose offsets are stored with the scores.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }
}

#[async_trait]
impl HotStore for SqliteHot {
    async fn apply(&self, changes: Vec<HotChange>, done: Offsets) -> Result<HotApplied, StoreError> {
        let apply = self.db.write(Priority::Background, move |tx| {
            let changed = apply::apply(tx, &changes)?;
            tx.store_offsets(&done.group, &done.positions)?;
            Ok(HotApplied { changed, offsets_stored: true })
        });
        apply.await
    }

    async fn top(&self, day: Day, limit: usize) -> Result<Vec<HotItem>, StoreError> {
        self.db.read(move |tx| list::top(tx, day, limit)).await
    }

    async fn lists(&self, days: Vec<Day>) -> Result<Vec<HotList>, StoreError> {
        self.db.read(move |tx| days.iter().map(|day| list::list(tx, *day)).collect()).await
    }

    async fn finalise(&self, day: Day) -> Result<bool, StoreError> {
        let clock = self.db.clock().clone();
        self.db.write(Priority::Background, move |tx| list::finalise(tx, day, clock.now())).await
    }

    async fn is_final(&self, day: Day) -> Result<bool, StoreError> {
        self.db.read(move |tx| list::is_final(tx, day)).await
    }

    async fn tallies(&self, day: Day, articles: Vec<ArticleId>) -> Result<Option<Vec<Tally>>, StoreError> {
        self.db.read(move |tx| row::tallies(tx, day, &articles).map(Some)).await
    }

    async fn tallies_after(
        &self,
        day: Day,
        after: Option<ArticleId>,
        slice: usize,
    ) -> Result<Option<Vec<(ArticleId, Tally)>>, StoreError> {
        self.db.read(move |tx| row::tallies_after(tx, day, after, slice).map(Some)).await
    }

    async fn replace(&self, day: Day, tallies: Vec<Replacement>) -> Result<Vec<ArticleId>, StoreError> {
        self.db.write(Priority::Background, move |tx| apply::replace(tx, day, &tallies)).await
    }

    async fn forget_before(&self, day: Day, slice: usize) -> Result<Forgotten, StoreError> {
        self.db.write(Priority::Background, move |tx| upkeep::forget_before(tx, day, slice)).await
    }

    async fn rebuild_ranking(&self, after: Option<(Day, ArticleId)>, slice: usize) -> Result<RankingSlice, StoreError> {
        self.db.write(Priority::Background, move |tx| upkeep::rebuild_ranking(tx, after, slice)).await
    }
}
