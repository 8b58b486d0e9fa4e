//! Scores of hot articles on MySQL: what is known of a day is on one server, and changes under the day's lock.
//!
//! Changes of several days are a transaction each. Applying changes again changes nothing, so what was interrupted between
//! two days is made whole when its events are delivered again; offsets are kept by the log, which is elsewhere.

mod apply;
mod list;
mod row;
mod tallies;
mod upkeep;

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_engine_mysql::{PART, SqlError, snapshot, transact};
use madang_hot_article::{
    Day, Forgotten, HotApplied, HotChange, HotItem, HotList, HotStore, Offsets, RankingSlice, Replacement, Tally,
};
use madang_kernel::{ServerIndex, StoreError};

pub(crate) use list::{is_final, lists, top};
pub(crate) use row::{falling_score, key, shard_of, tally};
pub(crate) use upkeep::days;

use crate::Mysql;

/// Hot articles in a service's databases.
#[derive(Clone)]
pub struct MysqlHot {
    db: Mysql,
}

impl MysqlHot {
    /// The store in `db`.
    pub fn new(db: Mysql) -> Self {
        Self { db }
    }
}

#[async_trait]
impl HotStore for MysqlHot {
    async fn apply(&self, changes: Vec<HotChange>, _done: Offsets) -> Result<HotApplied, StoreError> {
        let mut changed = 0;
        for (day, changes) in apply::by_day(&changes) {
            let applied: Result<u64, SqlError> =
                transact!(self.db, row::shard_of(day), |tx| apply::apply(&mut tx, day, &changes));
            changed += applied?;
        }
        Ok(HotApplied { changed, offsets_stored: false })
    }

    async fn top(&self, day: Day, limit: usize) -> Result<Vec<HotItem>, StoreError> {
        Ok(snapshot!(self.db.server_of(row::shard_of(day)), |tx| list::top(&mut tx, day, limit))?)
    }

    /// Of one moment on each server.
    async fn lists(&self, days: Vec<Day>) -> Result<Vec<HotList>, StoreError> {
        let mut by_server: BTreeMap<ServerIndex, Vec<Day>> = BTreeMap::new();
        for day in &days {
            by_server.entry(self.db.map().server(row::shard_of(*day))).or_default().push(*day);
        }
        let mut found: HashMap<Day, HotList> = HashMap::with_capacity(days.len());
        for (server, days) in by_server {
            let lists: Result<Vec<HotList>, SqlError> =
                snapshot!(self.db.server(server), |tx| list::lists(&mut tx, &days));
            found.extend(lists?.into_iter().map(|list| (list.date, list)));
        }
        let in_order = days.iter().map(|day| found.get(day).cloned());
        in_order.collect::<Option<_>>().ok_or_else(|| StoreError::broken(PART, "a day without a list"))
    }

    async fn finalise(&self, day: Day) -> Result<bool, StoreError> {
        let now = self.db.clock().now();
        let finalised: Result<bool, SqlError> =
            transact!(self.db, row::shard_of(day), |tx| list::finalise(&mut tx, day, now));
        Ok(finalised?)
    }

    async fn is_final(&self, day: Day) -> Result<bool, StoreError> {
        Ok(snapshot!(self.db.server_of(row::shard_of(day)), |tx| list::is_final(&mut tx, day))?)
    }

    async fn tallies(&self, day: Day, articles: Vec<ArticleId>) -> Result<Option<Vec<Tally>>, StoreError> {
        Ok(Some(tallies::of(&self.db, day, &articles).await?))
    }

    async fn tallies_after(
        &self,
        day: Day,
        after: Option<ArticleId>,
        slice: usize,
    ) -> Result<Option<Vec<(ArticleId, Tally)>>, StoreError> {
        Ok(Some(tallies::after(&self.db, day, after, slice).await?))
    }

    async fn replace(&self, day: Day, tallies: Vec<Replacement>) -> Result<Vec<ArticleId>, StoreError> {
        let changed: Result<Vec<ArticleId>, SqlError> =
            transact!(self.db, row::shard_of(day), |tx| apply::replace(&mut tx, day, &tallies));
        Ok(changed?)
    }

    async fn forget_before(&self, day: Day, slice: usize) -> Result<Forgotten, StoreError> {
        upkeep::forget_before(&self.db, day, slice).await
    }

    async fn rebuild_ranking(&self, after: Option<(Day, ArticleId)>, slice: usize) -> Result<RankingSlice, StoreError> {
        upkeep::rebuild_ranking(&self.db, after, slice).await
    }
}
