//! View counts on MySQL: each write-back with its event in one transaction, nothing for an article that is gone.

mod decide;
mod read;

use std::collections::BTreeMap;

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_engine_mysql::Lanes;
use madang_kernel::{ShardId, StoreError};
use madang_view::{StoredViews, ViewCount, ViewStore, WriteBack, WrittenBack};

use crate::Mysql;
use crate::lane_call::lane_call;
use decide::{Answer, Call, ViewFold};

/// View counts in a service's databases. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlViews {
    db: Mysql,
    lanes: Lanes<ViewFold>,
}

impl MysqlViews {
    /// The store in `db`; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        let lanes = Lanes::start(&db, ViewFold { clock: db.clock().clone() });
        Self { db, lanes }
    }
}

#[async_trait]
impl ViewStore for MysqlViews {
    async fn find(&self, article: ArticleId) -> Result<StoredViews, StoreError> {
        Ok(read::find_many(&self.db, &[article]).await?.pop().unwrap_or(StoredViews::Count(0)))
    }

    /// Of one moment on each server.
    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<StoredViews>, StoreError> {
        read::find_many(&self.db, &articles).await
    }

    /// Of one moment on each server.
    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ViewCount>>, StoreError> {
        read::counts(&self.db, &articles).await
    }

    /// One transaction for each shard. A failure of one leaves the others written, and writing them again changes nothing.
    async fn write_back(&self, counts: Vec<WriteBack>) -> Result<Vec<WrittenBack>, StoreError> {
        let mut by_shard: BTreeMap<ShardId, Vec<(usize, WriteBack)>> = BTreeMap::new();
        for (index, back) in counts.iter().enumerate() {
            by_shard.entry(ShardId::of_parts(back.article_id)).or_default().push((index, *back));
        }
        let calls = by_shard.into_iter().map(|(shard, backs)| async move {
            let (places, backs): (Vec<usize>, Vec<WriteBack>) = backs.into_iter().unzip();
            let written = lane_call!(self.lanes, Call::WriteBack(shard, backs) => Answer::Written)?;
            Ok::<_, StoreError>(places.into_iter().zip(written).collect::<Vec<_>>())
        });
        let mut written: Vec<(usize, WrittenBack)> =
            futures_util::future::try_join_all(calls).await?.into_iter().flatten().collect();
        written.sort_by_key(|(place, _)| *place);
        Ok(written.into_iter().map(|(_, written)| written).collect())
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::MarkGone(article) => Answer::Marked)
    }

    async fn counted_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        read::counted_after(&self.db, after, limit).await
    }

    async fn gone_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        read::gone_after(&self.db, after, limit).await
    }

    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::Restore(article) => Answer::Restored)
    }
}
