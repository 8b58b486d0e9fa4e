//! What readers do with an article: comment, like, view. Each event carries the count after it and the count's version, so
//! a consumer takes the newer one and never adds up.

use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_kernel::{Timestamp, millis};
use serde::{Deserialize, Serialize};

use crate::Writer;

/// The newest comment of an article that is not deleted: what lists tell of its discussion. Carries no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastComment {
    /// The comment.
    pub comment_id: CommentId,
    /// Who wrote it, with the name they had then.
    pub writer: Writer,
    /// When.
    #[serde(rename = "created_at_ms", with = "millis")]
    pub created_at: Timestamp,
}

/// A comment was written or deleted. Carries no text: what is deleted later must not stay readable here.
/// The envelope's version is that of the article's comment count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentChange {
    /// The article.
    pub article_id: ArticleId,
    /// The comment.
    pub comment_id: CommentId,
    /// The comment it replies to; `None` for a root.
    pub parent_id: Option<CommentId>,
    /// Visible comments of the article after this change.
    pub comment_count: u64,
    /// Whether the article takes no new comments. A process of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The board of the article. A process of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_id: Option<BoardId>,
    /// The newest visible comment of the article after this change; `None` when there is none. A process of an earlier
    /// version does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastComment>,
}

/// An article was closed to new comments, or opened again. The envelope's version is that of its comment count, in whose
/// row the lock stands: so a comment and a lock are told in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleLock {
    /// The article.
    pub article_id: ArticleId,
    /// Visible comments of the article, which a lock leaves as they are.
    pub comment_count: u64,
    /// Whether it takes no new comments from now on.
    pub locked: bool,
    /// The newest visible comment of the article, which a lock leaves as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastComment>,
}

/// Likes of one article changed in one transaction. The envelope's version is that of its like count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleLikes {
    /// The article.
    pub article_id: ArticleId,
    /// Who likes it now and did not before.
    pub liked: Vec<MemberId>,
    /// Who no longer likes it.
    pub unliked: Vec<MemberId>,
    /// Likes of the article after this change.
    pub like_count: u64,
}

/// The view count of an article was written back. The envelope's version is that of the stored count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleViews {
    /// The article.
    pub article_id: ArticleId,
    /// Views of the article so far.
    pub view_count: u64,
}
