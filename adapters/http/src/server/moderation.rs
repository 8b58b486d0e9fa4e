//! Answers to moderation: acts of the owners of articles and comments, and what exists.

use std::sync::Arc;

use axum::Router;
use madang_board::{BoardLookup, CommentLookup};
use madang_kernel::PageSize;
use madang_member::ActSource;

use super::reply::{Refusal, on};
use crate::wire::{
    ActsAnswer, ActsStep, ArticleActsOf, ArticleOfComment, ArticleOfCommentAnswer, BoardKnown, BoardKnownAnswer,
    CommentActsOf,
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

pub(super) fn boards(router: Router, parts: InternalBoards) -> Router {
    let InternalBoards { boards, acts } = parts;
    let router = on(router, move |question: BoardKnown| {
        let boards = Arc::clone(&boards);
        async move { Ok(BoardKnownAnswer { is_known: boards.has_board(question.board_id).await? }) }
    });
    on(router, move |question: ArticleActsOf| step(Arc::clone(&acts), question.0))
}

pub(super) fn comments(router: Router, parts: InternalComments) -> Router {
    let InternalComments { comments, acts } = parts;
    let router = on(router, move |question: ArticleOfComment| {
        let comments = Arc::clone(&comments);
        async move { Ok(ArticleOfCommentAnswer { article_id: comments.article_of(question.comment_id).await? }) }
    });
    on(router, move |question: CommentActsOf| step(Arc::clone(&acts), question.0))
}

async fn step(acts: Arc<dyn ActSource>, question: ActsStep) -> Result<ActsAnswer, Refusal> {
    let size = PageSize::new("limit", question.limit.into())?;
    let found = acts.acts(question.board_id, question.before, size).await?;
    Ok(ActsAnswer { items: found.items.into_iter().map(Into::into).collect(), next: found.next })
}
