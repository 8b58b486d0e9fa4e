//! What callers want of boards and articles, and what they get.

use madang_article::{
    Article, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome, NewBoard,
};
use madang_kernel::{ArticleId, Created, Id, Once, ShardId};

/// One call.
pub(super) enum Call {
    Create(Box<CreateArticle>),
    Edit(Box<EditArticle>),
    Delete(DeleteArticle),
    /// The directory's part of a new board.
    CreateBoard(Box<NewBoard>),
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Created(Created<Article>),
    Edited(EditOutcome),
    Deleted(DeleteOutcome),
    Board(CreateBoard),
}

impl Call {
    pub(super) fn shard(&self) -> ShardId {
        match self {
            Self::Create(new) => new.article.board_id.shard(),
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
            Self::Create(_) | Self::CreateBoard(_) => None,
        }
    }

    /// The idempotency key, with the shard on which its answer is kept.
    pub(super) fn once(&self) -> Option<(ShardId, &Once)> {
        match self {
            Self::Create(new) => Some((self.shard(), new.once.as_ref()?)),
            Self::CreateBoard(new) => Some((self.shard(), new.once.as_ref()?)),
            Self::Edit(_) | Self::Delete(_) => None,
        }
    }
}
