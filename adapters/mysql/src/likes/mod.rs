//! Likes on MySQL: what many callers want of an article is decided in one transaction, each answered as if alone. Three
//! other ways to keep the counters stand behind the same port, to be compared with.

mod call;
mod decide;
mod read;
mod single;

use async_trait::async_trait;
use madang_board::{ArticleId, MemberId};
use madang_kernel::{PageSize, Scroll, StoreError};
use madang_like::{CleanedUp, Like, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Unlike};

use crate::Mysql;
use crate::errors::PART;
use crate::lane::Lanes;
use call::{Answer, Call, Change};
use decide::LikeFold;
use single::{SingleFold, Way};

/// How a counter is kept equal to its rows. All ways give the same answers; they differ in what contention costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// `like_count = like_count + 1`, where the count stands; a transaction for each call.
    UpdateInPlace,
    /// Locks the counter, reads it, computes, writes it back; a transaction for each call.
    SelectForUpdate,
    /// Reads the counter without a lock, and writes only if its version is still the one read; otherwise tries anew, and
    /// after many tries is refused as unavailable. A transaction for each call.
    Optimistic,
    /// Decides all calls that wait in memory, and writes rows, counters and events once for all of them.
    #[default]
    Grouped,
}

/// Likes in a service's databases. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlLikes {
    db: Mysql,
    /// For everything but likes where those are not grouped.
    lanes: Lanes<LikeFold>,
    changes: Changes,
}

/// The lanes that likes and their ends take.
#[derive(Clone)]
enum Changes {
    Folded(Lanes<LikeFold>),
    Single(Lanes<SingleFold>),
}

impl MysqlLikes {
    /// The store in `db`, with grouped counting; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        Self::counting(db, Counting::default())
    }

    /// The store in `db`, with counters kept the way `counting` says; starts its lanes.
    pub fn counting(db: Mysql, counting: Counting) -> Self {
        let lanes = Lanes::start(&db, LikeFold::new(db.clock().clone()));
        let single = |way| Changes::Single(Lanes::start_unfolded(&db, SingleFold::new(way, db.clock().clone())));
        let changes = match counting {
            Counting::UpdateInPlace => single(Way::InPlace),
            Counting::Optimistic => single(Way::Optimistic),
            // Of one call, grouped counting is this.
            Counting::SelectForUpdate => Changes::Folded(Lanes::start_unfolded(&db, LikeFold::new(db.clock().clone()))),
            Counting::Grouped => Changes::Folded(lanes.clone()),
        };
        Self { db, lanes, changes }
    }

    async fn change(&self, change: Change) -> Result<LikeOutcome, StoreError> {
        match &self.changes {
            Changes::Single(lanes) => lanes.call(change).await,
            Changes::Folded(lanes) => match lanes.call(Call::Change(change)).await? {
                Answer::Changed(outcome) => Ok(outcome),
                Answer::Marked(_) | Answer::CleanedUp(_) => Err(crossed()),
            },
        }
    }
}

/// An answer to another call: cannot be, as each call is decided by its kind.
fn crossed() -> StoreError {
    StoreError::broken(PART, "a call was answered as another")
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
        match self.lanes.call(Call::MarkGone(article)).await? {
            Answer::Marked(now) => Ok(now),
            Answer::Changed(_) | Answer::CleanedUp(_) => Err(crossed()),
        }
    }

    async fn clean_up(&self, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError> {
        match self.lanes.call(Call::CleanUp(article, slice)).await? {
            Answer::CleanedUp(done) => Ok(done),
            Answer::Changed(_) | Answer::Marked(_) => Err(crossed()),
        }
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        read::counted_articles(&self.db, after, size).await
    }
}
