//! What callers want of boards and articles, and what they get.

use madang_article::replay::Announce;
use madang_article::{
    BoardState, CreateArticle, CreateBoard, CreateOutcome, DeleteArticle, DeleteBoard, DeleteOutcome, EditArticle,
    EditOutcome, NewBoard, PinArticle, PinOutcome, PurgeArticle, RestoreArticle, RestoreOutcome,
};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id, Idempotency, ShardId};

/// One call.
pub(super) enum Call {
    Create(Box<CreateArticle>),
    /// All of them or none; their keys are ignored.
    CreateMany(Vec<CreateArticle>, Announce),
    Edit(Box<EditArticle>),
    Delete(DeleteArticle),
    Pin(Box<PinArticle>),
    Restore(Box<RestoreArticle>),
    Purge(PurgeArticle),
    /// The directory's part of a new board.
    CreateBoard(Box<NewBoard>),
    /// The part of a change of a board that its shard has.
    SetState(BoardId, BoardState),
    /// The same of its deletion.
    DeleteBoard(BoardId),
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Created(CreateOutcome),
    CreatedMany(u64),
    Edited(EditOutcome),
    Deleted(DeleteOutcome),
    Pinned(PinOutcome),
    Restored(RestoreOutcome),
    /// Whether it was there to be purged.
    Purged(bool),
    Board(CreateBoard),
    /// Whether there is such a board.
    StateSet(bool),
    BoardDeleted(DeleteBoard),
}

impl Call {
    pub(super) fn shard(&self) -> ShardId {
        match self {
            Self::Create(new) => new.article.board_id.shard(),
            // Those of one call are of one shard.
            Self::CreateMany(new, _) => new.first().map_or(ShardId::HOME, |new| new.article.board_id.shard()),
            Self::Edit(edit) => edit.article_id.shard(),
            Self::Delete(delete) => delete.article_id.shard(),
            Self::Pin(pin) => pin.article_id.shard(),
            Self::Restore(restore) => restore.article_id.shard(),
            Self::Purge(purge) => purge.article_id.shard(),
            Self::CreateBoard(_) => ShardId::HOME,
            Self::SetState(board, _) | Self::DeleteBoard(board) => board.shard(),
        }
    }

    /// The article that must be read first.
    pub(super) fn of_stored_article(&self) -> Option<ArticleId> {
        match self {
            Self::Edit(edit) => Some(edit.article_id),
            Self::Delete(delete) => Some(delete.article_id),
            _ => self.pins(),
        }
    }

    /// The removed article that must be read first.
    pub(super) fn of_removed_article(&self) -> Option<ArticleId> {
        match self {
            Self::Purge(purge) => Some(purge.article_id),
            _ => self.restores(),
        }
    }

    /// The article that is to come back.
    pub(super) fn restores(&self) -> Option<ArticleId> {
        match self {
            Self::Restore(restore) => Some(restore.article_id),
            _ => None,
        }
    }

    /// The article that is to be pinned, or no longer.
    pub(super) fn pins(&self) -> Option<ArticleId> {
        match self {
            Self::Pin(pin) => Some(pin.article_id),
            _ => None,
        }
    }

    /// The article that is to go.
    pub(super) fn deletes(&self) -> Option<ArticleId> {
        match self {
            Self::Delete(delete) => Some(delete.article_id),
            _ => None,
        }
    }

    /// The board that itself is to change.
    pub(super) fn changes_board(&self) -> Option<BoardId> {
        match self {
            Self::SetState(board, _) | Self::DeleteBoard(board) => Some(*board),
            _ => None,
        }
    }

    /// The articles that are to come.
    pub(super) fn creates(&self) -> &[CreateArticle] {
        match self {
            Self::Create(new) => std::slice::from_ref(new),
            Self::CreateMany(new, _) => new,
            _ => &[],
        }
    }

    /// The idempotency key, with the shard on which its answer is kept.
    pub(super) fn idempotency(&self) -> Option<(ShardId, &Idempotency)> {
        match self {
            Self::Create(new) => Some((self.shard(), new.idempotency.as_ref()?)),
            Self::CreateBoard(new) => Some((self.shard(), new.idempotency.as_ref()?)),
            _ => None,
        }
    }
}
