//! Use cases of comments: check the rules, ask whether the article exists, make the ids, ask the store.

use std::sync::Arc;

use madang_board::rules::{About, Action, Refused, may};
use madang_board::{
    Act, ActKind, Actor, ArticleFacts, ArticleId, ArticleLookup, CommentId, CommentMode, MemberId, Reason, TextRenderer,
};
use madang_event::Writer;
use madang_kernel::{
    Clock, Created, Id, IdGenerator, Idempotency, Invalid, Page, PageNumber, PageSize, Scroll, ShardId, StoreError,
};

use crate::{
    COUNTS_MAX, Comment, CommentCount, CommentCursor, CommentStore, Content, Counted, CreateComment, CreateOutcome,
    CursorParseError, DeleteComment, DeleteOutcome, DepthMax, EditComment, EditOutcome, FIND_MANY_MAX, LevelFull,
    LockOutcome, Refusal, SetLock,
};

/// Ids drawn for one comment at most: each later one is greater than all that were drawn before it, so a second is rarely
/// overtaken and a tenth means that something else is wrong.
const CREATE_ATTEMPTS_MAX: usize = 10;

/// A comment as its writer hands it in.
#[derive(Debug, Clone)]
pub struct CommentDraft {
    /// 1 to 3,000 characters.
    pub content: String,
    /// The comment to reply to.
    pub parent_id: Option<CommentId>,
}

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum CommentError {
    /// There is no such thing; says which kind.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The actor may not do this; says why.
    #[error(transparent)]
    Forbidden(#[from] Refused),
    /// The input is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The reply would lie deeper than the board or the site allows.
    #[error("{0}")]
    TooDeep(Refusal),
    /// No further reply fits below this parent.
    #[error(transparent)]
    LevelFull(#[from] LevelFull),
    /// The board is archived: it can be read, and nothing else.
    #[error("the board is archived")]
    Archived,
    /// The article takes no new comments.
    #[error("the article is locked")]
    Locked,
    /// The cursor is none of this list.
    #[error(transparent)]
    Cursor(#[from] CursorParseError),
    /// The comment is no longer at the version the caller saw.
    #[error("the comment was changed meanwhile")]
    Changed,
    /// The idempotency key was used with another body.
    #[error("this Idempotency-Key was used with another body")]
    KeyReused,
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for CommentError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoParent => Self::Invalid(Invalid::field("parent_id", refusal.to_string())),
            Refusal::ReplyToReply | Refusal::TooDeep(_) => Self::TooDeep(refusal),
            Refusal::LevelFull(full) => Self::LevelFull(full),
        }
    }
}

/// Comments.
pub struct CommentService {
    pub(crate) store: Arc<dyn CommentStore>,
    pub(crate) articles: Arc<dyn ArticleLookup>,
    pub(crate) renderer: Arc<dyn TextRenderer>,
    ids: Arc<IdGenerator>,
    pub(crate) clock: Arc<dyn Clock>,
    depth_max: DepthMax,
}

impl CommentService {
    /// A service over a store; trees grow down to `depth_max`.
    pub fn new(
        store: Arc<dyn CommentStore>,
        articles: Arc<dyn ArticleLookup>,
        renderer: Arc<dyn TextRenderer>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
        depth_max: DepthMax,
    ) -> Self {
        Self { store, articles, renderer, ids, clock, depth_max }
    }

    /// Whether a comment at this depth of a board's discussions can be replied to.
    pub fn takes_replies(&self, mode: CommentMode, depth: u32) -> bool {
        self.depth_max.takes_replies(mode, depth)
    }

    /// Writes a comment on an article, or a reply to one of its comments.
    pub async fn create(
        &self,
        actor: &Actor,
        article: ArticleId,
        draft: CommentDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<Comment, CommentError> {
        may(actor, Action::WriteComment, About::NOTHING)?;
        let facts = self.require_article(article).await?;
        require_open(&facts)?;
        let content = Content::new(draft.content)?.into_string();
        let content_html = self.renderer.html(&content).await;
        let shard = ShardId::of_parts(article);
        let despite_lock = may(actor, Action::CommentOnLocked, About::on(facts.board_id, false)).is_ok();
        for _ in 0..CREATE_ATTEMPTS_MAX {
            // Drawn right before the store is asked: the less lies between, the fewer ids are overtaken.
            let new = CreateComment {
                comment_id: self.next_id(shard)?,
                article_id: article,
                board_id: facts.board_id,
                parent_id: draft.parent_id,
                mode: facts.comment_mode,
                depth_max: self.depth_max,
                content: content.clone(),
                content_html: content_html.clone(),
                writer: Writer { member_id: actor.member_id, name: actor.name.clone() },
                created_at: self.clock.now(),
                despite_lock,
                event_id: self.next_id(shard)?,
                idempotency: idempotency.clone(),
            };
            match self.store.create(new).await? {
                CreateOutcome::Created(Created::Now(comment) | Created::Before(comment)) => {
                    return Ok(self.rendered(comment).await);
                }
                CreateOutcome::Created(Created::KeyReused) => return Err(CommentError::KeyReused),
                CreateOutcome::Refused(refusal) => return Err(refusal.into()),
                CreateOutcome::Locked => return Err(CommentError::Locked),
                CreateOutcome::Gone => return Err(NO_ARTICLE),
                CreateOutcome::Late => {}
            }
        }
        Err(StoreError::unavailable("comments", "other comments of the article overtook this one every time").into())
    }

    /// Closes an article to new comments, or opens it again (moderators of its board). Doing it again changes nothing.
    pub async fn set_lock(
        &self,
        actor: &Actor,
        article: ArticleId,
        locked: bool,
    ) -> Result<CommentCount, CommentError> {
        let facts = self.require_article(article).await?;
        may(actor, Action::LockArticle, About::on(facts.board_id, false))?;
        require_open(&facts)?;
        let shard = ShardId::of_parts(article);
        let kind = if locked { ActKind::ArticleLocked } else { ActKind::ArticleUnlocked };
        let act = Act::of(actor, self.next_id(shard)?, kind, article.raw(), self.clock.now());
        let act = Act { board_id: Some(facts.board_id), ..act };
        let set = SetLock { article_id: article, locked, event_id: self.next_id(shard)?, act };
        match self.store.set_lock(set).await? {
            LockOutcome::Set(count) => Ok(count),
            LockOutcome::Gone => Err(NO_ARTICLE),
        }
    }

    /// Changes the text of a comment (author or moderator), if it is still at `expected_version`.
    pub async fn edit(
        &self,
        actor: &Actor,
        comment: CommentId,
        content: String,
        expected_version: Option<u64>,
    ) -> Result<Comment, CommentError> {
        let about = self.changeable(actor, comment, Action::EditComment).await?;
        let content = Content::new(content)?.into_string();
        let edit = EditComment {
            comment_id: comment,
            content_html: self.renderer.html(&content).await,
            content,
            modified_at: self.clock.now(),
            expected_version,
            event_id: self.next_id(comment.shard())?,
            act: self.act(actor, ActKind::CommentEdited, comment, about, Reason::default())?,
        };
        match self.store.edit(edit).await? {
            EditOutcome::Edited(comment) => Ok(comment),
            EditOutcome::Changed => Err(CommentError::Changed),
            EditOutcome::Absent | EditOutcome::Gone => Err(NO_COMMENT),
        }
    }

    /// Deletes a comment (author or moderator), if it is still at `expected_version`; a moderator's reason goes into the log
    /// of moderation, and what a moderator removes can be restored for 30 days. Returns the article's counts after it.
    pub async fn delete(
        &self,
        actor: &Actor,
        comment: CommentId,
        reason: Reason,
        expected_version: Option<u64>,
    ) -> Result<CommentCount, CommentError> {
        let about = self.changeable(actor, comment, Action::DeleteComment).await?;
        let act = self.act(actor, ActKind::CommentDeleted, comment, about, reason)?;
        let event_id = self.next_id(comment.shard())?;
        match self.store.delete(DeleteComment { comment_id: comment, expected_version, event_id, act }).await? {
            DeleteOutcome::Deleted(count) => Ok(count),
            DeleteOutcome::Changed => Err(CommentError::Changed),
            DeleteOutcome::Absent | DeleteOutcome::Gone => Err(NO_COMMENT),
        }
    }

    /// One comment, or its mark.
    pub async fn get(&self, comment: CommentId) -> Result<Comment, CommentError> {
        Ok(self.rendered(self.find(comment).await?.0).await)
    }

    /// Up to [`FIND_MANY_MAX`] comments or their marks in the order asked; `None` for one that does not exist. Does not ask
    /// whether their articles can be read: whoever asks knows.
    pub async fn find_many(&self, comments: Vec<CommentId>) -> Result<Vec<Option<Comment>>, CommentError> {
        if comments.len() > FIND_MANY_MAX {
            return Err(Invalid::field("comments", format!("must be at most {FIND_MANY_MAX}")).into());
        }
        let mut found = Vec::with_capacity(comments.len());
        for comment in self.store.find_many(comments).await? {
            found.push(match comment {
                Some(comment) => Some(self.rendered(comment).await),
                None => None,
            });
        }
        Ok(found)
    }

    /// Articles that have comments, or had some, by id, after `after`: what a rebuild of derived data looks through.
    pub async fn commented_articles(
        &self,
        after: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Vec<ArticleId>, CommentError> {
        Ok(self.store.counted_articles(after, size).await?)
    }

    /// Whose comment it is and on which board, if the actor may do this to it.
    async fn changeable(&self, actor: &Actor, comment: CommentId, action: Action) -> Result<About, CommentError> {
        let (found, facts) = self.find(comment).await?;
        // Of a mark there is nothing left to change, and nobody's name to compare with.
        let writer = found.writer.ok_or(NO_COMMENT)?;
        let about = About::on(facts.board_id, writer.member_id == actor.member_id);
        may(actor, action, about)?;
        require_open(&facts)?;
        Ok(about)
    }

    /// What the log of moderation says, if this is done to what somebody else wrote.
    fn act(
        &self,
        actor: &Actor,
        kind: ActKind,
        comment: CommentId,
        about: About,
        reason: Reason,
    ) -> Result<Option<Act>, StoreError> {
        if about.own {
            return Ok(None);
        }
        let act = Act::of(actor, self.next_id(comment.shard())?, kind, comment.raw(), self.clock.now());
        Ok(Some(Act { board_id: about.board, reason: reason.into_string(), ..act }))
    }

    async fn find(&self, comment: CommentId) -> Result<(Comment, ArticleFacts), CommentError> {
        let found = self.store.find(comment).await?.ok_or(NO_COMMENT)?;
        // The article may be gone before its comments are.
        let facts = self.articles.facts(found.article_id).await?.ok_or(NO_COMMENT)?;
        Ok((found, facts))
    }

    /// The comments of a member before `before`, or the newest, newest first. Those of articles that are gone or removed are
    /// left out, so that a step may be shorter than asked for and yet have a next one.
    pub async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<CommentId>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentId>, CommentError> {
        let mut found = self.store.by_writer(writer, before, size).await?;
        let mut shown = Vec::with_capacity(found.items.len());
        for comment in found.items {
            // A cached answer for nearly all of them.
            if self.articles.facts(comment.article_id).await?.is_some() {
                shown.push(comment);
            }
        }
        found.items = self.all_rendered(shown).await;
        Ok(found)
    }

    /// A numbered page of an article's comments, depth first and oldest first.
    pub async fn page(
        &self,
        article: ArticleId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<Comment>, CommentError> {
        let facts = self.require_article(article).await?;
        let mut found = self.store.page(article, facts.comment_mode, page, size).await?;
        found.items = self.all_rendered(found.items).await;
        Ok(found)
    }

    /// A step down an article's comments from the cursor `after`, or from the first.
    pub async fn scroll(
        &self,
        article: ArticleId,
        after: Option<&str>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentCursor>, CommentError> {
        let mode = self.require_article(article).await?.comment_mode;
        let after = after.map(|text| CommentCursor::parse(mode, text)).transpose()?;
        let mut found = self.store.scroll(article, mode, after, size).await?;
        found.items = self.all_rendered(found.items).await;
        Ok(found)
    }

    /// How many comments an article has.
    pub async fn count(&self, article: ArticleId) -> Result<CommentCount, CommentError> {
        self.require_article(article).await?;
        Ok(self.store.count(article).await?)
    }

    /// The counts of up to [`COUNTS_MAX`] articles, in the order asked; `None` for one whose comments are gone. Does not ask
    /// whether they exist: whoever lists articles knows.
    pub async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Counted>>, CommentError> {
        if articles.len() > COUNTS_MAX {
            return Err(Invalid::field("articles", format!("must be at most {COUNTS_MAX}")).into());
        }
        Ok(self.store.counts(articles).await?)
    }

    async fn all_rendered(&self, comments: Vec<Comment>) -> Vec<Comment> {
        let mut rendered = Vec::with_capacity(comments.len());
        for comment in comments {
            rendered.push(self.rendered(comment).await);
        }
        rendered
    }

    /// The comment with its HTML, also when its row was written before HTML was stored with it.
    async fn rendered(&self, mut comment: Comment) -> Comment {
        if comment.content_html.is_none()
            && let Some(content) = &comment.content
        {
            comment.content_html = Some(self.renderer.html(content).await);
        }
        comment
    }

    async fn require_article(&self, article: ArticleId) -> Result<ArticleFacts, CommentError> {
        self.articles.facts(article).await?.ok_or(NO_ARTICLE)
    }

    pub(crate) fn next_id<T: Id>(&self, shard: ShardId) -> Result<T, StoreError> {
        Ok(self.ids.next(shard)?)
    }
}

/// What the owner of the board said a moment ago: a comment that was under way while the board was archived may still
/// come, and harms nothing.
pub(crate) fn require_open(facts: &ArticleFacts) -> Result<(), CommentError> {
    if facts.archived { Err(CommentError::Archived) } else { Ok(()) }
}

const NO_ARTICLE: CommentError = CommentError::NotFound("article");
pub(crate) const NO_COMMENT: CommentError = CommentError::NotFound("comment");
