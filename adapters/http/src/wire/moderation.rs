//! What moderation asks the owners of articles and comments: what they wrote into its log, and what exists.

use madang_board::{Act, ActId, ArticleId, BoardId, CommentId};
use madang_kernel::Scroll;
use serde::{Deserialize, Serialize};

use super::Question;

/// Acts of moderators on articles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArticleActsOf(pub(crate) ActsStep);

/// Acts of moderators on comments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommentActsOf(pub(crate) ActsStep);

message! {
    /// Which step of them: on a board, or all; before an act, or the newest.
    ActsStep { board_id: Option<BoardId>, before: Option<ActId>, limit: u32 }
}

impl Question for ArticleActsOf {
    const PATH: &'static str = "/internal/v1/articles/acts";
    type Answer = Scroll<Act, ActId>;
}

impl Question for CommentActsOf {
    const PATH: &'static str = "/internal/v1/comments/acts";
    type Answer = Scroll<Act, ActId>;
}

message! {
    /// Whether there is a board.
    BoardKnown { board_id: BoardId } at "/internal/v1/boards/known" => BoardKnownAnswer
}
message! {
    /// Whether it is known.
    BoardKnownAnswer { is_known: bool }
}

message! {
    /// The article of a comment.
    ArticleOfComment { comment_id: CommentId } at "/internal/v1/comments/article" => ArticleOfCommentAnswer
}
message! {
    /// `None` when there is no such comment, or it is deleted.
    ArticleOfCommentAnswer { article_id: Option<ArticleId> }
}
