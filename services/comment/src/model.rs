//! Comments as values.

use madang_board::{ArticleId, CommentId, Removal};
use madang_event::{LastComment, Writer};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

use crate::CommentPath;

/// A comment. One that was deleted while it had replies stays as a mark, without text and writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Names the comment; carries the shard of its article's parts.
    pub comment_id: CommentId,
    /// Its article.
    pub article_id: ArticleId,
    /// The comment it replies to; `None` for a root.
    pub parent_id: Option<CommentId>,
    /// 1 for a root, and one more for each level below.
    pub depth: u32,
    /// Its place in a tree; `None` where comments have two levels.
    pub path: Option<CommentPath>,
    /// The text; `None` when deleted.
    pub content: Option<String>,
    /// The text as shown, rendered when it was written; `None` when deleted, and in rows older than this column until the
    /// service has rendered them.
    #[serde(default)]
    pub content_html: Option<String>,
    /// Whether only the mark is left.
    pub deleted: bool,
    /// Who wrote it; `None` when deleted.
    pub writer: Option<Writer>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When its text was last changed; when it was written, until then.
    #[serde(default = "of_no_change")]
    pub modified_at: Timestamp,
    /// 1 when written, one more with each edit, one more when only the mark is left, and one more when it is restored.
    #[serde(default = "of_no_edit")]
    pub version: u64,
}

/// What the answers say to which versions before this field have stored; see [`Comment::from_answer`].
fn of_no_change() -> Timestamp {
    Timestamp::from_millis(0)
}

/// As above: those comments never changed.
fn of_no_edit() -> u64 {
    1
}

impl Comment {
    /// What lists tell of it as the newest of its article; nothing of a mark.
    pub fn as_last(&self) -> Option<LastComment> {
        let &Self { comment_id, created_at, .. } = self;
        let writer = self.writer.clone().filter(|_| !self.deleted)?;
        Some(LastComment { comment_id, writer, created_at })
    }

    /// What is left of the comment once it is deleted: its place, neither text nor writer.
    pub fn into_mark(self) -> Self {
        Self { content: None, content_html: None, writer: None, deleted: true, version: self.version + 1, ..self }
    }

    /// Whether its text was changed since it was written. A version may tell of a restore, which changes no text.
    pub fn is_edited(&self) -> bool {
        self.modified_at > self.created_at && !self.deleted
    }

    /// The comment as a stored answer tells it, which may be older than the moment of the last change.
    pub(crate) fn from_answer(answer: Self) -> Self {
        Self { modified_at: answer.modified_at.max(answer.created_at), ..answer }
    }
}

/// What a moderator removed of a comment, and may restore: what its mark does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedComment {
    /// The comment, whose mark keeps its place.
    pub comment_id: CommentId,
    /// Its article.
    pub article_id: ArticleId,
    /// The text.
    pub content: String,
    /// Who wrote it.
    pub writer: Writer,
    /// Who removed it, when and why.
    pub removal: Removal,
}

/// The comments of an article, as lists tell of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// How many there are.
    pub count: CommentCount,
    /// The newest that is not deleted: the one with the greatest id.
    pub last: Option<LastComment>,
}

/// An article that was commented on, at its place among those that were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Active {
    /// The article.
    pub article_id: ArticleId,
    /// When its newest visible comment was written.
    pub last_at: Timestamp,
    /// The version of its count.
    pub version: u64,
}

/// How many comments an article has. An article that nobody commented on has zeros at version 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommentCount {
    /// Comments that are not deleted: what people are told.
    pub comment_count: u64,
    /// Those and the marks of deleted ones: what page numbers count.
    pub row_count: u64,
    /// Grows by one with each change: the newer one wins.
    pub version: u64,
    /// Whether the article takes no new comments. Stands beside the counts, because every new comment locks those.
    pub locked: bool,
}
