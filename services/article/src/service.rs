//! Use cases of articles: check the rules, make the ids, ask the store.

use std::sync::Arc;
use std::time::Duration;

use madang_board::rules::{About, Action, Refused, may};
use madang_board::{Act, ActKind, Actor, ArticleId, BoardId, MemberId, Reason, TextRenderer as _};
use madang_event::Writer;
use madang_kernel::{
    Clock, Created, Id, IdGenerator, Idempotency, Invalid, Page, PageNumber, PageSize, Scroll, ShardId, StoreError,
    Timestamp,
};

use crate::article_cache::ArticleCache;
use crate::board_cache::BoardCache;
use crate::markdown::Markdown;
use crate::pin_cache::PinCache;
use crate::{
    Article, ArticleHead, ArticlePlace, ArticleStore, CreateArticle, CreateOutcome, DeleteArticle, DeleteOutcome,
    EditArticle, EditOutcome, FIND_MANY_MAX, NEWEST_MAX, NewestArticles,
};

/// How long what is cached about an article is fresh in a process that shares its store. Half of the second within which
/// a deleted article is gone everywhere: the rest is for processes that ask this one and remember its answer.
pub const SHARED_FACTS_TTL_MS: u64 = 500;

/// An article as its writer hands it in.
#[derive(Debug, Clone)]
pub struct ArticleDraft {
    /// 1 to 100 characters.
    pub title: String,
    /// 1 to 20,000 characters of Markdown.
    pub content: String,
}

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ArticleError {
    /// There is no such thing; says which kind.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The actor may not do this; says why.
    #[error(transparent)]
    Forbidden(#[from] Refused),
    /// The input is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The article is no longer at the version the caller saw.
    #[error("the article was changed meanwhile")]
    Changed,
    /// Another board has this slug.
    #[error("another board has this slug")]
    SlugTaken,
    /// The board is archived: it can be read, and nothing else.
    #[error("the board is archived")]
    Archived,
    /// Only a board without articles can be deleted.
    #[error("the board has articles")]
    HasArticles,
    /// The board has as many pinned articles as one can have.
    #[error("the board has as many pinned articles as it can have")]
    TooManyPins,
    /// The idempotency key was used with another body.
    #[error("this Idempotency-Key was used with another body")]
    KeyReused,
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Boards and articles.
pub struct ArticleService {
    pub(crate) store: Arc<dyn ArticleStore>,
    ids: Arc<IdGenerator>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) board_cache: BoardCache,
    pub(crate) article_cache: ArticleCache,
    pub(crate) pin_cache: PinCache,
}

impl ArticleService {
    /// A service over a store.
    pub fn new(store: Arc<dyn ArticleStore>, ids: Arc<IdGenerator>, clock: Arc<dyn Clock>) -> Self {
        let (board_cache, article_cache) = (BoardCache::default(), ArticleCache::default());
        Self { store, ids, clock, board_cache, article_cache, pin_cache: PinCache::default() }
    }

    /// The same service where other processes write to its store too: what it has cached about an article or a board is
    /// fresh for [`SHARED_FACTS_TTL_MS`], no longer for ever.
    #[must_use]
    pub fn sharing_its_store(mut self) -> Self {
        self.article_cache.set_ttl(Duration::from_millis(SHARED_FACTS_TTL_MS));
        self.board_cache.set_ttl(Duration::from_millis(SHARED_FACTS_TTL_MS));
        self.pin_cache.set_ttl(Duration::from_millis(SHARED_FACTS_TTL_MS));
        self
    }

    /// Writes an article.
    pub async fn create(
        &self,
        actor: &Actor,
        board: BoardId,
        draft: ArticleDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Article, ArticleError> {
        may(actor, Action::WriteArticle, About::on(board, true))?;
        self.require_board(board).await?;
        let (title, content) = draft.check()?;
        let content_html = Markdown.html(content.as_str()).await;
        let now = self.clock.now();
        let article = Article {
            article_id: self.next_id(board.shard())?,
            board_id: board,
            title: title.into_string(),
            content_html,
            content: content.into_string(),
            writer: Writer { member_id: actor.member_id, name: actor.name.clone() },
            created_at: now,
            modified_at: now,
            version: 1,
        };
        let new = CreateArticle { article, event_id: self.next_id(board.shard())?, idempotency };
        match self.store.create(new).await? {
            CreateOutcome::Created(Created::Before(article)) if article.is_mark() => Err(NO_ARTICLE),
            CreateOutcome::Created(Created::Now(article) | Created::Before(article)) => Ok(article),
            CreateOutcome::Created(Created::KeyReused) => Err(ArticleError::KeyReused),
            CreateOutcome::Archived => Err(ArticleError::Archived),
            CreateOutcome::NoBoard => {
                // Another process deleted it.
                self.board_cache.note_absent(board, now);
                Err(NO_BOARD)
            }
        }
    }

    /// Changes an article (author or moderator), if it is still at `expected_version`.
    pub async fn edit(
        &self,
        actor: &Actor,
        article: ArticleId,
        draft: ArticleDraft,
        expected_version: Option<u64>,
    ) -> Result<Article, ArticleError> {
        let found = self.get(article).await?;
        may(actor, Action::EditArticle, about(actor, &found))?;
        let (title, content) = draft.check()?;
        let content_html = Markdown.html(content.as_str()).await;
        let edit = EditArticle {
            article_id: article,
            title: title.into_string(),
            content_html,
            content: content.into_string(),
            // A clock that stepped back does not make an edit older than what it changes; and no edit is as old as the
            // article, because that tells whether there was one.
            modified_at: self
                .clock
                .now()
                .max(found.modified_at)
                .max(Timestamp::from_millis(found.created_at.as_millis() + 1)),
            expected_version,
            event_id: self.next_id(article.shard())?,
            act: self.act(actor, ActKind::ArticleEdited, &found, Reason::default())?,
        };
        match self.store.edit(edit).await? {
            EditOutcome::Edited(article) => Ok(article),
            EditOutcome::Changed => Err(ArticleError::Changed),
            EditOutcome::Archived => Err(ArticleError::Archived),
            EditOutcome::Absent => Err(NO_ARTICLE),
        }
    }

    /// Deletes an article (author or moderator), if it is still at `expected_version`; a moderator's reason goes into the log
    /// of moderation, and what a moderator removes can be restored for 30 days.
    pub async fn delete(
        &self,
        actor: &Actor,
        article: ArticleId,
        reason: Reason,
        expected_version: Option<u64>,
    ) -> Result<(), ArticleError> {
        let found = self.get(article).await?;
        may(actor, Action::DeleteArticle, about(actor, &found))?;
        let act = self.act(actor, ActKind::ArticleDeleted, &found, reason)?;
        let event_id = self.next_id(article.shard())?;
        let delete = DeleteArticle { article_id: article, expected_version, event_id, act };
        match self.store.delete(delete).await? {
            DeleteOutcome::Deleted => {
                self.article_cache.note_deleted(article, self.clock.now());
                self.pin_cache.forget(found.board_id);
                Ok(())
            }
            DeleteOutcome::Changed => Err(ArticleError::Changed),
            DeleteOutcome::Archived => Err(ArticleError::Archived),
            DeleteOutcome::Absent => Err(NO_ARTICLE),
        }
    }

    /// One article.
    pub async fn get(&self, article: ArticleId) -> Result<Article, ArticleError> {
        self.store.find(article).await?.ok_or(NO_ARTICLE)
    }

    /// Up to [`FIND_MANY_MAX`] articles in the order asked, of one moment; `None` for one that does not exist.
    pub async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, ArticleError> {
        at_most("articles", articles.len(), FIND_MANY_MAX)?;
        Ok(self.store.find_many(articles).await?)
    }

    /// The ids of the newest `limit` articles of a board, at most [`NEWEST_MAX`], with its count of the same moment.
    pub async fn newest(&self, board: BoardId, limit: usize) -> Result<NewestArticles, ArticleError> {
        at_most("limit", limit, NEWEST_MAX)?;
        // The store says itself when there is no such board, so it is asked once.
        self.store.newest(board, limit).await?.ok_or(NO_BOARD)
    }

    /// The newest `limit` articles of all boards before `before`, newest first, at most [`NEWEST_MAX`].
    pub async fn site_newest(
        &self,
        before: Option<ArticleId>,
        limit: usize,
    ) -> Result<Vec<ArticlePlace>, ArticleError> {
        at_most("limit", limit, NEWEST_MAX)?;
        Ok(self.store.site_newest(before, limit).await?)
    }

    /// Where up to [`NEWEST_MAX`] articles stand, in the order asked; `None` for one that does not exist.
    pub async fn places(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ArticlePlace>>, ArticleError> {
        at_most("articles", articles.len(), NEWEST_MAX)?;
        Ok(self.store.places(articles).await?)
    }

    /// The articles of a member before `before`, or the newest, newest first.
    pub async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, ArticleError> {
        Ok(self.store.by_writer(writer, before, size).await?)
    }

    /// A numbered page of a board, newest first.
    pub async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<ArticleHead>, ArticleError> {
        self.require_board(board).await?;
        Ok(self.store.page(board, page, size).await?)
    }

    /// A step down a board from `before`, or from the newest.
    pub async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, ArticleError> {
        self.require_board(board).await?;
        Ok(self.store.scroll(board, before, size).await?)
    }

    /// What the log of moderation says, if this is done to what somebody else wrote.
    fn act(&self, actor: &Actor, kind: ActKind, article: &Article, reason: Reason) -> Result<Option<Act>, StoreError> {
        if article.writer.member_id == actor.member_id {
            return Ok(None);
        }
        let (act_id, now) = (self.next_id(article.article_id.shard())?, self.clock.now());
        let act = Act::of(actor, act_id, kind, article.article_id.raw(), now);
        Ok(Some(Act { board_id: Some(article.board_id), reason: reason.into_string(), ..act }))
    }

    pub(crate) fn next_id<T: Id>(&self, shard: ShardId) -> Result<T, StoreError> {
        Ok(self.ids.next(shard)?)
    }
}

pub(crate) const NO_BOARD: ArticleError = ArticleError::NotFound("board");
pub(crate) const NO_ARTICLE: ArticleError = ArticleError::NotFound("article");

fn at_most(field: &'static str, asked: usize, max: usize) -> Result<(), Invalid> {
    if asked <= max { Ok(()) } else { Err(Invalid::field(field, format!("must be at most {max}"))) }
}

fn about(actor: &Actor, article: &Article) -> About {
    About::on(article.board_id, article.writer.member_id == actor.member_id)
}
