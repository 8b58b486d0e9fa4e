//! Likes on SQLite: all calls that wait are decided in memory, and rows, counters and events are written once for them.

mod change;
mod gone;
mod grouped;
mod read;

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::Fold;
use madang_event::Envelope;
use madang_kernel::{Clock, EventId, PageSize, Scroll, StoreError};
use madang_like::{CleanedUp, Like, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Unlike};

use crate::{Priority, Sqlite, Tx};
use change::Change;

/// Calls decided together at most.
const FOLD_BATCH_MAX: usize = 256;
/// Calls that may wait to be folded; one more is refused at once.
const FOLD_PENDING_MAX: usize = 4_096;

/// Likes in one SQLite file. Clones share what waits to be folded.
#[derive(Clone)]
pub struct SqliteLikes {
    db: Sqlite,
    fold: Fold<Envelope, Change, LikeOutcome>,
}

impl SqliteLikes {
    /// The store in `db`.
    pub fn new(db: Sqlite) -> Self {
        // The clock alone: a fold that held the database would keep it open.
        let clock: Arc<dyn Clock> = db.clock().clone();
        let work = move |tx: &Tx, calls: &[Change]| grouped::decide(tx, calls, clock.now());
        Self { db, fold: Fold::new(FOLD_BATCH_MAX, FOLD_PENDING_MAX, work) }
    }

    async fn change(&self, change: Change) -> Result<LikeOutcome, StoreError> {
        self.fold.write(&self.db, Priority::Foreground, change).await
    }
}

#[async_trait]
impl LikeStore for SqliteLikes {
    async fn like(&self, like: Like) -> Result<LikeOutcome, StoreError> {
        self.change(like.into()).await
    }

    async fn unlike(&self, unlike: Unlike) -> Result<LikeOutcome, StoreError> {
        self.change(unlike.into()).await
    }

    async fn state(&self, article: ArticleId, member: Option<MemberId>) -> Result<Option<LikeState>, StoreError> {
        self.db.read(move |tx| read::state(tx, article, member)).await
    }

    async fn likers(
        &self,
        article: ArticleId,
        after: Option<MemberId>,
        size: PageSize,
    ) -> Result<Option<Scroll<Liker, MemberId>>, StoreError> {
        self.db.read(move |tx| read::likers(tx, article, after, size)).await
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<LikeCount>>, StoreError> {
        self.db.read(move |tx| read::counts(tx, &articles)).await
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<bool, StoreError> {
        // Before background work: until it is done, people can still like what is deleted.
        self.db.write(Priority::Foreground, move |tx| gone::mark(tx, article)).await
    }

    async fn clean_up(&self, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError> {
        self.db.write(Priority::Background, move |tx| gone::clean_up(tx, article, slice)).await
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| read::counted_articles(tx, after, size)).await
    }

    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| gone::marked(tx, after, size)).await
    }

    async fn restore_article(&self, article: ArticleId, event_id: EventId) -> Result<(), StoreError> {
        let clock = self.db.clock().clone();
        let restore = move |tx: &Tx| match gone::restore(tx, article, event_id, clock.now())? {
            Some(event) => tx.report(event),
            None => Ok(()),
        };
        self.db.write(Priority::Background, restore).await
    }
}
