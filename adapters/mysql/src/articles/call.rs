//! What callers want of boards and articles, and what they get.

use madang_article::replay::Announce;
use madang_article::{
    Article, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome, NewBoard,
};
use madang_board::ArticleId;
use madang_kernel::{Created, Id, Idempotency, ShardId};

/// One call.
pub(super) enum Call {
    Create(Box<CreateArticle>),
    /// All of them or none; their keys are ignored.
    CreateMany(Vec<CreateArticle>, Announce),
    Edit(Box<EditArticle>),
    Delete(DeleteArticle),
    /// The directory's part of a new board.
    CreateBoard(Box<NewBoard>),
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Created(Created<Article>),
    CreatedMany(u64),
    Edited(EditOutcome),
    Deleted(DeleteOutcome),
    Board(CreateBoard),
}

impl Call {
    pub(super) fn shard(&self) -> ShardId {
        match self {
            Self::Create(new) => new.article.board_id.shard(),
            // Those of one call are of one shard.
            Self::CreateMany(new, _) => new.first().map_or(ShardId::HOME, |new| new.article.board_id.shard()),
            Self::Edit(edit) => edit.article_id.shard(),
            Self::Delete(delete) => delete.article_id.shard(),
            Self::CreateBoard(_) => ShardId::HOME,
        }
    }

    /// The article that must be read first.
    pub(super) fn of_stored_article(&self) -> Option<ArticleId> {
        match self {
            Self::Edit(edit) => Some(edit.article_id),
            Self::Delete(delete) => Some(delete.article_id),
            Self::Create(_) | Self::CreateMany(..) | Self::CreateBoard(_) => None,
        }
    }

    /// The article that is to go.
    pub(super) fn deletes(&self) -> Option<ArticleId> {
        match self {
            Self::Delete(delete) => Some(delete.article_id),
            Self::Create(_) | Self::CreateMany(..) | Self::Edit(_) | Self::CreateBoard(_) => None,
        }
    }

    /// The articles that are to come.
    pub(super) fn creates(&self) -> &[CreateArticle] {
        match self {
            Self::Create(new) => std::slice::from_ref(new),
            Self::CreateMany(new, _) => new,
            Self::Edit(_) | Self::Delete(_) | Self::CreateBoard(_) => &[],
        }
    }

    /// The idempotency key, with the shard on which its answer is kept.
    pub(super) fn idempotency(&self) -> Option<(ShardId, &Idempotency)> {
        match self {
            Self::Create(new) => Some((self.shard(), new.idempotency.as_ref()?)),
            Self::CreateBoard(new) => Some((self.shard(), new.idempotency.as_ref()?)),
            Self::CreateMany(..) | Self::Edit(_) | Self::Delete(_) => None,
        }
    }
}
