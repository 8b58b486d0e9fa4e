//! What moderation asks the owners of articles and comments: what they wrote into its log, and what exists.

use madang_board::{Act, ActId, ActKind, ArticleId, BoardId, CommentId, MemberId};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

use super::Question;

/// Acts of moderators on articles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArticleActsOf(pub(crate) ActsStep);

/// Acts of moderators on comments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommentActsOf(pub(crate) ActsStep);

/// Which step of them: on a board, or all; before an act, or the newest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActsStep {
    pub(crate) board_id: Option<BoardId>,
    pub(crate) before: Option<ActId>,
    pub(crate) limit: u32,
}

/// Newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActsAnswer {
    pub(crate) items: Vec<ActBody>,
    pub(crate) next: Option<ActId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActBody {
    act_id: ActId,
    kind: ActKind,
    moderator_id: MemberId,
    moderator_name: String,
    subject: i64,
    board_id: Option<BoardId>,
    detail: String,
    reason: String,
    acted_at_ms: i64,
}

/// Whether there is a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BoardKnown {
    pub(crate) board_id: BoardId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BoardKnownAnswer {
    pub(crate) is_known: bool,
}

/// The article of a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArticleOfComment {
    pub(crate) comment_id: CommentId,
}

/// `None` when there is no such comment, or it is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArticleOfCommentAnswer {
    pub(crate) article_id: Option<ArticleId>,
}

impl Question for ArticleActsOf {
    const PATH: &'static str = "/internal/v1/articles/acts";
    type Answer = ActsAnswer;
}

impl Question for CommentActsOf {
    const PATH: &'static str = "/internal/v1/comments/acts";
    type Answer = ActsAnswer;
}

impl Question for BoardKnown {
    const PATH: &'static str = "/internal/v1/boards/known";
    type Answer = BoardKnownAnswer;
}

impl Question for ArticleOfComment {
    const PATH: &'static str = "/internal/v1/comments/article";
    type Answer = ArticleOfCommentAnswer;
}

impl From<Act> for ActBody {
    fn from(act: Act) -> Self {
        Self {
            act_id: act.act_id,
            kind: act.kind,
            moderator_id: act.moderator_id,
            moderator_name: act.moderator_name,
            subject: act.subject,
            board_id: act.board_id,
            detail: act.detail,
            reason: act.reason,
            acted_at_ms: act.acted_at.as_millis(),
        }
    }
}

impl From<ActBody> for Act {
    fn from(body: ActBody) -> Self {
        Self {
            act_id: body.act_id,
            kind: body.kind,
            moderator_id: body.moderator_id,
            moderator_name: body.moderator_name,
            subject: body.subject,
            board_id: body.board_id,
            detail: body.detail,
            reason: body.reason,
            acted_at: Timestamp::from_millis(body.acted_at_ms),
        }
    }
}
