//! Use cases of likes: ask whether the article exists, make the event's id, ask the store.

use std::sync::Arc;

use madang_board::rules::{About, Action, Refused, may};
use madang_board::{Actor, ArticleFacts, ArticleId, ArticleLookup, MemberId};
use madang_event::Writer;
use madang_kernel::{Clock, EventId, IdGenerator, Invalid, PageSize, Scroll, ShardId, StoreError};

use crate::{Like, LikeAnswer, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Unlike};

/// Articles whose counts one call may ask for.
pub const COUNTS_MAX: usize = 1_000;

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum LikeError {
    /// There is no such article, or no longer.
    #[error("there is no such article")]
    NotFound,
    /// The actor may not do this; says why.
    #[error(transparent)]
    Forbidden(#[from] Refused),
    /// The input is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The board is archived: it can be read, and nothing else.
    #[error("the board is archived")]
    Archived,
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Likes of articles.
pub struct LikeService {
    store: Arc<dyn LikeStore>,
    articles: Arc<dyn ArticleLookup>,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
}

impl LikeService {
    /// A service over a store, which asks `articles` what exists.
    pub fn new(
        store: Arc<dyn LikeStore>,
        articles: Arc<dyn ArticleLookup>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, articles, ids, clock }
    }

    /// The actor likes an article; liking it again changes nothing.
    pub async fn like(&self, actor: &Actor, article: ArticleId) -> Result<LikeAnswer, LikeError> {
        may(actor, Action::Like, About::NOTHING)?;
        self.must_be_open(article).await?;
        let like = Like {
            article_id: article,
            member: Writer { member_id: actor.member_id, name: actor.name.clone() },
            created_at: self.clock.now(),
            event_id: self.event_id(article)?,
        };
        done(self.store.like(like).await?)
    }

    /// The actor no longer likes an article; taking it back again changes nothing.
    pub async fn unlike(&self, actor: &Actor, article: ArticleId) -> Result<LikeAnswer, LikeError> {
        may(actor, Action::Like, About::NOTHING)?;
        self.must_be_open(article).await?;
        let event_id = self.event_id(article)?;
        let unlike = Unlike { article_id: article, member_id: actor.member_id, event_id };
        done(self.store.unlike(unlike).await?)
    }

    /// How an article stands, for a member or a guest.
    pub async fn state(&self, article: ArticleId, member: Option<MemberId>) -> Result<LikeState, LikeError> {
        self.must_exist(article).await?;
        self.store.state(article, member).await?.ok_or(LikeError::NotFound)
    }

    /// Who likes an article, by member id, after `after`.
    pub async fn likers(
        &self,
        article: ArticleId,
        after: Option<MemberId>,
        size: PageSize,
    ) -> Result<Scroll<Liker, MemberId>, LikeError> {
        self.must_exist(article).await?;
        self.store.likers(article, after, size).await?.ok_or(LikeError::NotFound)
    }

    /// The counters of up to [`COUNTS_MAX`] articles, in the order asked; `None` for one whose likes are gone. Does not
    /// ask whether they exist: whoever lists articles knows.
    pub async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<LikeCount>>, LikeError> {
        if articles.len() > COUNTS_MAX {
            return Err(Invalid::field("articles", format!("must be at most {COUNTS_MAX}")).into());
        }
        Ok(self.store.counts(articles).await?)
    }

    async fn must_exist(&self, article: ArticleId) -> Result<ArticleFacts, LikeError> {
        self.articles.facts(article).await?.ok_or(LikeError::NotFound)
    }

    async fn must_be_open(&self, article: ArticleId) -> Result<(), LikeError> {
        if self.must_exist(article).await?.archived { Err(LikeError::Archived) } else { Ok(()) }
    }

    fn event_id(&self, article: ArticleId) -> Result<EventId, LikeError> {
        Ok(self.ids.next(ShardId::of_parts(article)).map_err(StoreError::from)?)
    }
}

fn done(outcome: LikeOutcome) -> Result<LikeAnswer, LikeError> {
    match outcome {
        LikeOutcome::Done(answer) => Ok(answer),
        LikeOutcome::Gone => Err(LikeError::NotFound),
    }
}
