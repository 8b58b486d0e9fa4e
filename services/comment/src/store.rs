//! The port to the store of comments. One method is one transaction: the change, its counts and its event commit together
//! or not at all, and every write looks inside it whether the article is gone.

use async_trait::async_trait;
use madang_board::{Act, ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_event::Writer;
use madang_kernel::{Created, EventId, Idempotency, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};

use crate::{Active, Comment, CommentCount, CommentCursor, Counted, DepthMax, Refusal, RemovedComment};

/// Articles whose counts one call may ask for.
pub const COUNTS_MAX: usize = 1_000;
/// Comments that one call may ask for by their ids.
pub const FIND_MANY_MAX: usize = 1_000;

/// A comment to create, complete but for what the transaction decides: its place, the count, `occurred_at`.
#[derive(Debug, Clone)]
pub struct CreateComment {
    /// Names the comment; carries the shard of its article's parts.
    pub comment_id: CommentId,
    /// The article.
    pub article_id: ArticleId,
    /// The board of the article.
    pub board_id: BoardId,
    /// The comment it replies to.
    pub parent_id: Option<CommentId>,
    /// How the comments of this article are arranged.
    pub mode: CommentMode,
    /// How deep a tree may grow.
    pub depth_max: DepthMax,
    /// The text.
    pub content: String,
    /// The text as shown.
    pub content_html: String,
    /// Who writes.
    pub writer: Writer,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether the writer may comment on a locked article too.
    pub despite_lock: bool,
    /// Names the event that reports it; carries the same shard.
    pub event_id: EventId,
    /// The caller's idempotency key.
    pub idempotency: Option<Idempotency>,
}

/// What became of a new comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// As for any creation. Of one that happened before and was deleted since, only the mark is told.
    Created(Created<Comment>),
    /// It may not be there; nothing was done.
    Refused(Refusal),
    /// Two levels list by id, and the article has seen a greater one: a reader may be past this place already. Nothing was
    /// done; ask again with a new id.
    Late,
    /// The article takes no new comments; nothing was done.
    Locked,
    /// The article is gone; nothing was done.
    Gone,
}

/// Closes an article to new comments, or opens it again.
#[derive(Debug, Clone)]
pub struct SetLock {
    /// The article.
    pub article_id: ArticleId,
    /// Whether it takes no new comments from now on.
    pub locked: bool,
    /// Names the event that reports it; carries the shard of the article's parts.
    pub event_id: EventId,
    /// What the log of moderation says about it, if it changes anything.
    pub act: Act,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOutcome {
    /// It is as asked, whether it was before or not; the counts beside it.
    Set(CommentCount),
    /// The article is gone.
    Gone,
}

/// A new text for a comment.
#[derive(Debug, Clone)]
pub struct EditComment {
    /// The comment.
    pub comment_id: CommentId,
    /// The new text.
    pub content: String,
    /// The new text as shown.
    pub content_html: String,
    /// When.
    pub modified_at: Timestamp,
    /// Only if the comment is still at this version.
    pub expected_version: Option<u64>,
    /// Names the event that reports it; carries the shard of the comment.
    pub event_id: EventId,
    /// What the log of moderation says about it, if it is a moderator's doing.
    pub act: Option<Act>,
}

/// What became of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditOutcome {
    /// The comment as it stands now.
    Edited(Comment),
    /// Somebody else was faster; nothing was done.
    Changed,
    /// There is no such comment, or only its mark.
    Absent,
    /// The article is gone, and all of its comments with it.
    Gone,
}

/// A comment to delete.
#[derive(Debug, Clone)]
pub struct DeleteComment {
    /// The comment.
    pub comment_id: CommentId,
    /// The version the deletion was decided on; any when absent.
    pub expected_version: Option<u64>,
    /// Names the event that reports it; carries the shard of the comment.
    pub event_id: EventId,
    /// What the log of moderation says about it, if it is a moderator's doing: then text and writer are kept apart for a
    /// while, and may be restored.
    pub act: Option<Act>,
}

/// A comment to restore that a moderator removed.
#[derive(Debug, Clone)]
pub struct RestoreComment {
    /// The comment.
    pub comment_id: CommentId,
    /// Its text as shown.
    pub content_html: String,
    /// Names the event that reports it; carries the shard of the comment.
    pub event_id: EventId,
    /// What the log of moderation says about it.
    pub act: Act,
}

/// What became of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// The comment as it stands now.
    Restored(Comment),
    /// Nothing of that id can be restored.
    Absent,
    /// The article is gone, and all of its comments with it.
    Gone,
}

/// What is to be destroyed that a moderator removed long ago.
#[derive(Debug, Clone, Copy)]
pub struct PurgeComment {
    /// The comment.
    pub comment_id: CommentId,
    /// Only if it was removed at this moment or before.
    pub removed_until: Timestamp,
    /// Names the event that reports it; carries the shard of the comment.
    pub event_id: EventId,
}

/// What became of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// Text and writer are gone; the counts after it.
    Deleted(CommentCount),
    /// Somebody changed it meanwhile; nothing was done.
    Changed,
    /// There is no such comment, or only its mark.
    Absent,
    /// The article is gone, and all of its comments with it.
    Gone,
}

/// Where comments are kept. To reads, the comments of an article that is gone are not there, cleaned up or not.
#[async_trait]
pub trait CommentStore: Send + Sync {
    /// Creates a comment, with the article's counts and a `CommentCreated`.
    async fn create(&self, new: CreateComment) -> Result<CreateOutcome, StoreError>;
    /// Changes the text of a comment that is at the version expected, with a `CommentEdited`; the article's counts stay and
    /// their version grows.
    async fn edit(&self, edit: EditComment) -> Result<EditOutcome, StoreError>;
    /// Deletes a comment that is at the version expected, with the article's counts and a `CommentDeleted`. One with replies becomes a mark; one without
    /// goes, and with it every marked ancestor left without replies. What a moderator removes always becomes a mark, which
    /// keeps its place, and its text is kept apart in the same transaction.
    async fn delete(&self, delete: DeleteComment) -> Result<DeleteOutcome, StoreError>;
    /// Puts text and writer back where a moderator removed them, with the article's counts and a `CommentEdited`.
    async fn restore(&self, restore: RestoreComment) -> Result<RestoreOutcome, StoreError>;
    /// Destroys what a moderator removed; a mark without replies goes as after any deletion, with a `CommentDeleted`. False
    /// when it is not there, or not yet to be destroyed.
    async fn purge(&self, purge: PurgeComment) -> Result<bool, StoreError>;
    /// What a moderator removed and nobody restored or purged yet.
    async fn find_removed(&self, comment: CommentId) -> Result<Option<RemovedComment>, StoreError>;
    /// Some comments, at most `limit`, that were removed at this moment or before; fewer only when there are no others.
    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<CommentId>, StoreError>;

    /// Closes an article to new comments or opens it, with an `ArticleLockChanged`; what is so already stays as it is. From
    /// the moment on that this commits, no comment is created but by those who are exempt.
    async fn set_lock(&self, set: SetLock) -> Result<LockOutcome, StoreError>;

    /// One comment, or its mark.
    async fn find(&self, comment: CommentId) -> Result<Option<Comment>, StoreError>;
    /// At most [`FIND_MANY_MAX`] comments or their marks in the order asked; `None` for one that does not exist.
    async fn find_many(&self, comments: Vec<CommentId>) -> Result<Vec<Option<Comment>>, StoreError>;
    /// A numbered page, depth first and oldest first, marks included. Count and items are of one moment.
    async fn page(
        &self,
        article: ArticleId,
        mode: CommentMode,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<Comment>, StoreError>;
    /// The comments after `after`, or the first, in the same order. A cursor of the other mode starts at the first.
    async fn scroll(
        &self,
        article: ArticleId,
        mode: CommentMode,
        after: Option<CommentCursor>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentCursor>, StoreError>;
    /// The comments of one writer before `before`, or the newest, newest first; marks are nobody's. Those of an article that
    /// is gone are left out. The one list that asks every server.
    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<CommentId>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentId>, StoreError>;
    /// How many comments the article has.
    async fn count(&self, article: ArticleId) -> Result<CommentCount, StoreError>;
    /// The counts of at most [`COUNTS_MAX`] articles with their newest comments in the order asked, of one moment; `None` for
    /// one that is marked as gone.
    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Counted>>, StoreError>;
    /// Articles with visible comments, of one board or of all, whose newest comment is at or before `until`: the last
    /// commented first, among those of one moment the greatest id first, at most `limit`. Those that are removed and may be
    /// restored are among them. Of a board, only those that are placed.
    async fn active(&self, board: Option<BoardId>, until: Timestamp, limit: usize) -> Result<Vec<Active>, StoreError>;
    /// Articles with comments whose board or newest comment is not noted beside their count, because a version before did not, by id,
    /// after `after`.
    async fn unplaced(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError>;
    /// Notes the board of an article and its newest comment beside its count, which stays as it is.
    async fn place(&self, article: ArticleId, board: BoardId) -> Result<(), StoreError>;

    /// Marks an article as gone for ever and removes its counts. Doing it again changes nothing.
    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError>;
    /// Removes up to `slice_rows` comments of an article that is gone, with what moderators removed of them; returns how many. Fewer than `slice_rows` means that
    /// none is left. Of an article that is not gone, nothing is removed.
    async fn clean_up(&self, article: ArticleId, slice_rows: u32) -> Result<u32, StoreError>;
    /// Articles that have a counter or a comment, by id, after `after`: what a rebuild looks through. Those that are gone
    /// and not yet cleaned up are among them.
    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError>;
    /// Articles that are marked as gone, by id, after `after`: what a check looks through.
    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError>;
    /// Takes the mark from an article that was never gone. The comments that are left count again, at a version above any
    /// before. Of one without a mark nothing changes.
    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError>;
}
