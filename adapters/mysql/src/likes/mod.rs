//! Likes on MySQL: what many callers want of an article is decided in one transaction, each answered as if alone.

mod call;
mod decide;
mod read;

use async_trait::async_trait;
use madang_board::{ArticleId, MemberId};
use madang_engine_mysql::Lanes;
use madang_kernel::{EventId, PageSize, Scroll, StoreError};
use madang_like::{CleanedUp, Like, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Unlike};

use crate::Mysql;
use crate::lane_call::lane_call;
use call::{Answer, Call, Change};
use decide::LikeFold;

/// Likes in a service's databases. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlLikes {
    db: Mysql,
    lanes: Lanes<LikeFold>,
}

impl MysqlLikes {
    /// The store in `db`; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        let lanes = Lanes::start(&db, LikeFold { clock: db.clock().clone() });
        Self { db, lanes }
    }

    async fn change(&self, change: Change) -> Result<LikeOutcome, StoreError> {
        lane_call!(self.lanes, Call::Change(change) => Answer::Changed)
    }
}

#[async_trait]
impl LikeStore for MysqlLikes {
    async fn like(&self, like: Like) -> Result<LikeOutcome, StoreError> {
        self.change(like.into()).await
    }

    async fn unlike(&self, unlike: Unlike) -> Result<LikeOutcome, StoreError> {
        self.change(unlike.into()).await
    }

    async fn state(&self, article: ArticleId, member: Option<MemberId>) -> Result<Option<LikeState>, StoreError> {
        read::state(&self.db, article, member).await
    }

    async fn likers(
        &self,
        article: ArticleId,
        after: Option<MemberId>,
        size: PageSize,
    ) -> Result<Option<Scroll<Liker, MemberId>>, StoreError> {
        read::likers(&self.db, article, after, size).await
    }

    /// Of one moment on each server.
    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<LikeCount>>, StoreError> {
        read::counts(&self.db, &articles).await
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<bool, StoreError> {
        lane_call!(self.lanes, Call::MarkGone(article) => Answer::Marked)
    }

    async fn clean_up(&self, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError> {
        lane_call!(self.lanes, Call::CleanUp(article, slice) => Answer::CleanedUp)
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        read::counted_articles(&self.db, after, size).await
    }

    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        read::gone_articles(&self.db, after, size).await
    }

    async fn restore_article(&self, article: ArticleId, event_id: EventId) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::Restore(article, event_id) => Answer::Restored)
    }
}
