//! Likes on SQLite, with four ways to keep their counters behind one port.

mod change;
mod gone;
mod grouped;
mod read;
mod single;

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::{Fold, PART};
use madang_event::Envelope;
use madang_kernel::{Clock, PageSize, Scroll, StoreError};
use madang_like::{CleanedUp, Like, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Unlike};

use crate::{Priority, Sqlite, Tx};
use change::{Change, Conflict};

/// Calls decided together at most.
const FOLD_BATCH_MAX: usize = 256;
/// Calls that may wait to be folded; one more is refused at once.
const FOLD_PENDING_MAX: usize = 4_096;
/// Times that an optimistic call reads and tries anew before it is refused.
const OPTIMISTIC_ATTEMPTS_MAX: usize = 64;

/// How a counter is kept equal to its rows. All ways give the same answers; they differ in what contention costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// `like_count = like_count + 1`, where the count stands.
    UpdateInPlace,
    /// Reads the counter under the writer's lock, computes, writes it back.
    SelectForUpdate,
    /// Reads the counter without a lock, and writes only if its version is still the one read; otherwise tries anew, and
    /// after many tries is refused as unavailable.
    Optimistic,
    /// Decides all calls that wait in memory, and writes rows, counters and events once for all of them.
    #[default]
    Grouped,
}

/// Likes in one SQLite file. Clones share what waits to be folded.
#[derive(Clone)]
pub struct SqliteLikes {
    db: Sqlite,
    counting: Counting,
    fold: Fold<Envelope, Change, LikeOutcome>,
}

impl SqliteLikes {
    /// The store in `db`, with grouped counting.
    pub fn new(db: Sqlite) -> Self {
        Self::counting(db, Counting::default())
    }

    /// The store in `db`, with counters kept the way `counting` says.
    pub fn counting(db: Sqlite, counting: Counting) -> Self {
        // The clock alone: a fold that held the database would keep it open.
        let clock: Arc<dyn Clock> = db.clock().clone();
        let work = move |tx: &Tx, calls: &[Change]| grouped::decide(tx, calls, clock.now());
        Self { db, counting, fold: Fold::new(FOLD_BATCH_MAX, FOLD_PENDING_MAX, work) }
    }

    async fn change(&self, change: Change) -> Result<LikeOutcome, StoreError> {
        let clock = self.db.clock().clone();
        match self.counting {
            Counting::UpdateInPlace => {
                self.db.write(Priority::Foreground, move |tx| single::update_in_place(tx, &change, clock.now())).await
            }
            Counting::SelectForUpdate => {
                self.db.write(Priority::Foreground, move |tx| single::select_for_update(tx, &change, clock.now())).await
            }
            Counting::Optimistic => self.optimistic(change).await,
            Counting::Grouped => self.fold.write(&self.db, Priority::Foreground, change).await,
        }
    }

    async fn optimistic(&self, change: Change) -> Result<LikeOutcome, StoreError> {
        let article = change.article_id;
        for _ in 0..OPTIMISTIC_ATTEMPTS_MAX {
            let seen = self.db.read(move |tx| change::find_count(tx, article)).await?;
            let (clock, change) = (self.db.clock().clone(), change.clone());
            let call = move |tx: &Tx| single::optimistic(tx, &change, seen, clock.now());
            match self.db.write_or(Priority::Foreground, call).await {
                Ok(outcome) => return Ok(outcome),
                Err(Conflict::Overtaken) => {}
                Err(Conflict::Store(error)) => return Err(error),
            }
        }
        Err(StoreError::unavailable(PART, "others were faster each time"))
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
}
