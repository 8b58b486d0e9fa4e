//! Answers to moderation: acts of the owners of articles and comments, and what exists.

use std::sync::Arc;

use axum::Router;
use madang_board::{Act, ActId, BoardLookup, CommentLookup};
use madang_kernel::{PageSize, Scroll};
use madang_member::ActSource;

use super::reply::{Refusal, with};
use crate::wire::{
    ActsStep, ArticleActsOf, ArticleOfComment, ArticleOfCommentAnswer, BoardKnown, BoardKnownAnswer, CommentActsOf,
};

/// The owner of articles, as moderation knows it.
pub struct InternalBoards {
    /// Which boards there are.
    pub boards: Arc<dyn BoardLookup>,
    /// What moderators did to articles.
    pub acts: Arc<dyn ActSource>,
}

/// The owner of comments, as moderation knows it.
pub struct InternalComments {
    /// Which comments there are.
    pub comments: Arc<dyn CommentLookup>,
    /// What moderators did to comments.
    pub acts: Arc<dyn ActSource>,
}

pub(super) fn boards(router: Router, InternalBoards { boards, acts }: &InternalBoards) -> Router {
    let router = with(router, boards, |boards, question: BoardKnown| async move {
        Ok(BoardKnownAnswer { is_known: boards.has_board(question.board_id).await? })
    });
    with(router, acts, |acts, question: ArticleActsOf| step(acts, question.0))
}

pub(super) fn comments(router: Router, InternalComments { comments, acts }: &InternalComments) -> Router {
    let router = with(router, comments, |comments, question: ArticleOfComment| async move {
        Ok(ArticleOfCommentAnswer { article_id: comments.article_of(question.comment_id).await? })
    });
    with(router, acts, |acts, question: CommentActsOf| step(acts, question.0))
}

async fn step(acts: Arc<dyn ActSource>, question: ActsStep) -> Result<Scroll<Act, ActId>, Refusal> {
    let size = PageSize::new("limit", question.limit.into())?;
    Ok(acts.acts(question.board_id, question.before, size).await?)
}
