//! The port to the store of boards and articles. One method is one transaction: the change, its counters, its blocks
//! and its event commit together or not at all.

use async_trait::async_trait;
use madang_board::{Act, ArticleId, BoardId, MemberId, Pin};
use madang_event::{ArticleHead, ArticlePlace, NewestArticles};
use madang_kernel::{Created, EventId, Idempotency, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};

use crate::{Article, Board, BoardState, BoardWithCount, RemovedArticle};

/// Articles that one call may ask for by their ids.
pub const FIND_MANY_MAX: usize = 1_000;
/// Ids that one call for the newest of a board may ask for.
pub const NEWEST_MAX: usize = 1_000;

/// A board to create.
#[derive(Debug, Clone)]
pub struct NewBoard {
    /// The board, complete.
    pub board: Board,
    /// The caller's idempotency key.
    pub idempotency: Option<Idempotency>,
}

/// What became of a new board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateBoard {
    /// As for any creation.
    Created(Created<Board>),
    /// Another board has the slug; nothing was done.
    SlugTaken,
}

/// What an administrator changes of a board.
#[derive(Debug, Clone)]
pub struct EditBoard {
    /// The board.
    pub board_id: BoardId,
    /// Its name for people.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Where it stands among the boards.
    pub position: i32,
    /// Whether it takes changes: [`BoardState::Open`] or [`BoardState::Archived`].
    pub state: BoardState,
}

/// What became of the deletion of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteBoard {
    /// It is gone.
    Deleted,
    /// It has articles; nothing was done.
    HasArticles,
    /// There is no such board.
    Absent,
}

/// What became of a new article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// As for any creation.
    Created(Created<Article>),
    /// The board takes no changes; nothing was done.
    Archived,
    /// There is no such board, or no longer; nothing was done.
    NoBoard,
}

/// An article to create, complete but for what the transaction decides (the board's count, `occurred_at`).
#[derive(Debug, Clone)]
pub struct CreateArticle {
    /// The article, at version 1.
    pub article: Article,
    /// Names the event that reports it.
    pub event_id: EventId,
    /// The caller's idempotency key.
    pub idempotency: Option<Idempotency>,
}

/// A new text for an article.
#[derive(Debug, Clone)]
pub struct EditArticle {
    /// The article.
    pub article_id: ArticleId,
    /// The new headline.
    pub title: String,
    /// The new text.
    pub content: String,
    /// The new text, rendered.
    pub content_html: String,
    /// When.
    pub modified_at: Timestamp,
    /// Only if the article is still at this version.
    pub expected_version: Option<u64>,
    /// Names the event that reports it.
    pub event_id: EventId,
    /// What the log of moderation says about it, if it is a moderator's doing.
    pub act: Option<Act>,
}

/// What became of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditOutcome {
    /// The article as it stands now.
    Edited(Article),
    /// Somebody else was faster; nothing was done.
    Changed,
    /// The board takes no changes; nothing was done.
    Archived,
    /// There is no such article.
    Absent,
}

/// An article to delete.
#[derive(Debug, Clone)]
pub struct DeleteArticle {
    /// The article.
    pub article_id: ArticleId,
    /// The version the deletion was decided on; any when absent.
    pub expected_version: Option<u64>,
    /// Names the event that reports it.
    pub event_id: EventId,
    /// What the log of moderation says about it, if it is a moderator's doing: then the article is kept apart for a while, and
    /// may be restored.
    pub act: Option<Act>,
}

/// An article to restore that a moderator removed.
#[derive(Debug, Clone)]
pub struct RestoreArticle {
    /// The article.
    pub article_id: ArticleId,
    /// Names the event that reports it.
    pub event_id: EventId,
    /// What the log of moderation says about it.
    pub act: Act,
}

/// What became of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// It is back; the article as it stands now.
    Restored(Article),
    /// The board takes no changes; nothing was done.
    Archived,
    /// Nothing of that id can be restored, or its board is gone.
    Absent,
}

/// An article to destroy that a moderator removed long ago.
#[derive(Debug, Clone, Copy)]
pub struct PurgeArticle {
    /// The article.
    pub article_id: ArticleId,
    /// Only if it was removed at this moment or before.
    pub removed_until: Timestamp,
    /// Names the event that reports it.
    pub event_id: EventId,
}

/// What became of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// It is gone.
    Deleted,
    /// Somebody changed it meanwhile; nothing was done.
    Changed,
    /// The board takes no changes; nothing was done.
    Archived,
    /// There is no such article.
    Absent,
}

/// A pin to set or to take away.
#[derive(Debug, Clone)]
pub struct PinArticle {
    /// The article.
    pub article_id: ArticleId,
    /// What to do.
    pub pinning: Pinning,
    /// When.
    pub pinned_at: Timestamp,
    /// Names the event that reports it.
    pub event_id: EventId,
    /// What the log of moderation says about it, if it changes anything.
    pub act: Act,
}

/// What a moderator wants of a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pinning {
    /// On top of the board, above those that are pinned already.
    Pin {
        /// When the pin is over by itself.
        until: Option<Timestamp>,
    },
    /// No longer on top.
    Unpin,
}

/// What became of a pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinOutcome {
    /// It is as asked, whether it was before or not; the article as it stands now.
    Done(Article),
    /// The board has [`PINS_MAX`](madang_board::PINS_MAX) others; nothing was done.
    Full,
    /// The board takes no changes; nothing was done.
    Archived,
    /// There is no such article.
    Absent,
}

/// Where boards and articles are kept.
#[async_trait]
pub trait ArticleStore: Send + Sync {
    /// Creates a board with a count of 0 at version 0.
    async fn create_board(&self, new: NewBoard) -> Result<CreateBoard, StoreError>;
    /// Every board, oldest first.
    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError>;
    /// Changes a board; `None` when there is no such. What is archived takes no change of an article from the moment on
    /// that this commits. A store of several databases archives first and changes the rest second, so that a failure in
    /// between leaves a board that is told as it is, and asking again does the rest.
    async fn edit_board(&self, edit: EditBoard) -> Result<Option<BoardWithCount>, StoreError>;
    /// Deletes a board without articles. One that is created at the same moment either keeps the board or finds none.
    async fn delete_board(&self, board: BoardId) -> Result<DeleteBoard, StoreError>;
    /// One board.
    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError>;

    /// Creates an article, with its board's count and blocks and an `ArticleCreated`.
    async fn create(&self, new: CreateArticle) -> Result<CreateOutcome, StoreError>;
    /// Changes an article's text, with an `ArticleEdited`.
    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError>;
    /// Removes an article that is at the version expected, with its pin, its board's count and blocks and an `ArticleDeleted`.
    /// What a moderator removes is kept apart in the same transaction.
    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError>;

    /// Brings back what a moderator removed, at a version above its tombstone, with its board's count and blocks and an
    /// `ArticleRestored`.
    async fn restore(&self, restore: RestoreArticle) -> Result<RestoreOutcome, StoreError>;
    /// Destroys what a moderator removed, with the `ArticleDeleted` that ends it; false when it is not there, or not yet to be
    /// destroyed.
    async fn purge(&self, purge: PurgeArticle) -> Result<bool, StoreError>;
    /// What a moderator removed and nobody restored or purged yet.
    async fn find_removed(&self, article: ArticleId) -> Result<Option<RemovedArticle>, StoreError>;
    /// Some articles, at most `limit`, that were removed at this moment or before; fewer only when there are no others.
    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<ArticleId>, StoreError>;
    /// Whether there are such articles, or removed ones that may be restored, in the order asked; of one moment each.
    async fn holds(&self, articles: Vec<ArticleId>) -> Result<Vec<bool>, StoreError>;

    /// Pins an article on its board or takes the pin away: a new version of the article with the same text, and so an
    /// `ArticleEdited`. Taking away what is not there changes nothing. Pins that are over make room for others.
    async fn pin(&self, pin: PinArticle) -> Result<PinOutcome, StoreError>;
    /// The pins of a board, in any order, those that are over included.
    async fn pins(&self, board: BoardId) -> Result<Vec<Pin>, StoreError>;

    /// One article.
    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError>;
    /// At most [`FIND_MANY_MAX`] articles in the order asked, of one moment; `None` for one that does not exist.
    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError>;
    /// The ids of the newest `limit` articles, at most [`NEWEST_MAX`], with the board's count of the same moment; `None` when
    /// there is no such board.
    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError>;
    /// The newest `limit` articles of all boards before `before`, newest first, at most [`NEWEST_MAX`]: asks every server.
    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError>;
    /// Where at most [`NEWEST_MAX`] articles stand, in the order asked; `None` for one that does not exist.
    async fn places(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ArticlePlace>>, StoreError>;
    /// A numbered page, newest first; cheap however deep. Count and items are of one moment.
    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleHead>, StoreError>;
    /// The articles before `before`, or the newest, newest first.
    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError>;
    /// The articles of one writer before `before`, or the newest, newest first: the one list that asks every server.
    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError>;
}
