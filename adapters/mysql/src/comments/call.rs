//! What callers want of the comments of an article, and what they get.

use madang_board::{ArticleId, BoardId, CommentId};
use madang_comment::{
    CreateComment, CreateOutcome, DeleteComment, DeleteOutcome, EditComment, EditOutcome, LockOutcome, PurgeComment,
    RestoreComment, RestoreOutcome, SetLock,
};
use madang_kernel::{Id, Idempotency, ShardId};

/// One call.
pub(super) enum Call {
    Create(Box<CreateComment>),
    Edit(Box<EditComment>),
    Delete(DeleteComment),
    RestoreComment(Box<RestoreComment>),
    Purge(PurgeComment),
    SetLock(Box<SetLock>),
    /// The board of the article, to be noted.
    Place(ArticleId, BoardId),
    /// The article is deleted.
    MarkGone(ArticleId),
    /// Up to so many comments of a deleted article go.
    CleanUp(ArticleId, u32),
    /// The article was never deleted.
    Restore(ArticleId),
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Created(CreateOutcome),
    Edited(EditOutcome),
    Deleted(DeleteOutcome),
    RestoredComment(RestoreOutcome),
    /// Whether it was there to be purged.
    Purged(bool),
    LockSet(LockOutcome),
    Placed(()),
    Marked(()),
    CleanedUp(u32),
    Restored(()),
}

impl Call {
    pub(super) fn shard(&self) -> ShardId {
        match self {
            Self::Edit(edit) => edit.comment_id.shard(),
            Self::Delete(delete) => delete.comment_id.shard(),
            Self::RestoreComment(restore) => restore.comment_id.shard(),
            Self::Purge(purge) => purge.comment_id.shard(),
            Self::Create(new) => ShardId::of_parts(new.article_id),
            Self::SetLock(set) => ShardId::of_parts(set.article_id),
            Self::MarkGone(article) | Self::CleanUp(article, _) | Self::Restore(article) | Self::Place(article, _) => {
                ShardId::of_parts(*article)
            }
        }
    }

    /// The article, where the call names it.
    pub(super) fn article(&self) -> Option<ArticleId> {
        match self {
            Self::Create(new) => Some(new.article_id),
            Self::SetLock(set) => Some(set.article_id),
            Self::MarkGone(article) | Self::CleanUp(article, _) | Self::Restore(article) | Self::Place(article, _) => {
                Some(*article)
            }
            Self::Edit(_) | Self::Delete(_) | Self::RestoreComment(_) | Self::Purge(_) => None,
        }
    }

    /// The comment to change, where the call names it instead of its article.
    pub(super) fn changes(&self) -> Option<CommentId> {
        match self {
            Self::Edit(edit) => Some(edit.comment_id),
            Self::RestoreComment(restore) => Some(restore.comment_id),
            _ => self.deletes(),
        }
    }

    /// The comment that may go: one to delete, or a mark whose removal is to be purged.
    pub(super) fn deletes(&self) -> Option<CommentId> {
        match self {
            Self::Delete(delete) => Some(delete.comment_id),
            Self::Purge(purge) => Some(purge.comment_id),
            _ => None,
        }
    }

    /// The comment to create.
    pub(super) fn creates(&self) -> Option<&CreateComment> {
        match self {
            Self::Create(new) => Some(new),
            _ => None,
        }
    }

    /// The idempotency key, with the shard on which its answer is kept.
    pub(super) fn idempotency(&self) -> Option<(ShardId, &Idempotency)> {
        Some((self.shard(), self.creates()?.idempotency.as_ref()?))
    }
}
