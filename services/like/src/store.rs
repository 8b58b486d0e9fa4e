//! The port to the store of likes. One method is one transaction: the row, its counter and its event commit together or not
//! at all. Calls that come together may share a transaction, and then an event.

use async_trait::async_trait;
use madang_board::{ArticleId, MemberId};
use madang_event::Writer;
use madang_kernel::{EventId, PageSize, Scroll, StoreError, Timestamp};

use crate::{LikeCount, LikeState, Liker};

/// A like to give.
#[derive(Debug, Clone)]
pub struct Like {
    /// The article.
    pub article_id: ArticleId,
    /// Who likes it.
    pub member: Writer,
    /// When.
    pub created_at: Timestamp,
    /// Names the event that reports it, unless it shares another's.
    pub event_id: EventId,
}

/// A like to take back.
#[derive(Debug, Clone)]
pub struct Unlike {
    /// The article.
    pub article_id: ArticleId,
    /// Who no longer likes it.
    pub member_id: MemberId,
    /// Names the event that reports it, unless it shares another's.
    pub event_id: EventId,
}

/// How an article stands after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LikeAnswer {
    /// The state right after this call.
    pub state: LikeState,
    /// Whether this call changed it; a repeated one does not.
    pub changed: bool,
    /// The counter as it was committed, with whatever shared the transaction: what a query model may merge.
    pub committed: LikeCount,
}

/// What became of a like or of taking it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeOutcome {
    /// Done, or so already.
    Done(LikeAnswer),
    /// The article is deleted; nothing was done.
    Gone,
}

/// How far the likes of a deleted article are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanedUp {
    /// Likes that this slice removed.
    pub removed: u64,
    /// Whether nothing is left, the counter included.
    pub done: bool,
}

/// Where likes are kept.
#[async_trait]
pub trait LikeStore: Send + Sync {
    /// A member likes an article. Only a change moves the counter and its version, with an `ArticleLikesChanged`.
    async fn like(&self, like: Like) -> Result<LikeOutcome, StoreError>;
    /// A member no longer likes an article. Only a change moves the counter and its version, with an
    /// `ArticleLikesChanged`.
    async fn unlike(&self, unlike: Unlike) -> Result<LikeOutcome, StoreError>;

    /// How an article stands, for a member or a guest; `None` when it is marked as gone.
    async fn state(&self, article: ArticleId, member: Option<MemberId>) -> Result<Option<LikeState>, StoreError>;
    /// Who likes an article, by member id, after `after`; `None` when it is marked as gone.
    async fn likers(
        &self,
        article: ArticleId,
        after: Option<MemberId>,
        size: PageSize,
    ) -> Result<Option<Scroll<Liker, MemberId>>, StoreError>;
    /// The counters of articles in the order asked, of one moment; `None` for one that is marked as gone.
    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<LikeCount>>, StoreError>;

    /// Marks an article as gone for ever: whatever is under way commits before, or is answered with `Gone`. True when it
    /// was not marked yet.
    async fn mark_article_gone(&self, article: ArticleId) -> Result<bool, StoreError>;
    /// Removes up to `slice` likes of an article that is marked, and with the last of them its counter. Touches nothing of
    /// one that is not marked, and reports nothing: the article's own deletion says it all.
    async fn clean_up(&self, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError>;
    /// Articles that have a counter, by id, after `after`: what a rebuild looks through.
    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError>;
    /// Articles that are marked as gone, by id, after `after`: what a check looks through.
    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError>;
    /// Takes the mark from an article that was never gone. The likes that are left count again, at a version above any before,
    /// with an `ArticleLikesChanged` of that name. Of one without a mark nothing changes.
    async fn restore_article(&self, article: ArticleId, event_id: EventId) -> Result<(), StoreError>;
}
