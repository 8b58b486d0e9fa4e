//! What an index holds of an article or a comment: tokens and filters, never the text itself.

use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::Writer;
use madang_kernel::{Id, Timestamp};

use crate::analysis::{composed, joined, tokens};
use crate::excerpt::plain;
use crate::request::Kind;

/// An article as its owner has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceArticle {
    /// The article.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// The headline.
    pub title: String,
    /// The text as shown.
    pub content_html: String,
    /// Who wrote it.
    pub writer: Writer,
    /// When.
    pub created_at: Timestamp,
    /// The newer text wins.
    pub version: u64,
}

/// A comment as its owner has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceComment {
    /// The comment.
    pub comment_id: CommentId,
    /// Its article.
    pub article_id: ArticleId,
    /// The text as shown.
    pub content_html: String,
    /// Who wrote it.
    pub writer: Writer,
    /// When.
    pub created_at: Timestamp,
    /// The newer text wins.
    pub version: u64,
}

/// What the owner says of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundComment {
    /// It can be read.
    Readable(SourceComment),
    /// Only its mark is left, at this version; it may be restored, at a greater one.
    Marked(u64),
    /// It is gone for ever.
    Absent,
}

/// What is indexed. Ids are unique among articles and comments, because one generator makes both, and grow with time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: i64,
    /// Its article, which may be itself.
    pub article_id: ArticleId,
    /// The board of that.
    pub board_id: BoardId,
    /// Who wrote it.
    pub writer_id: MemberId,
    /// When.
    pub created_at: Timestamp,
    /// The newer one wins.
    pub version: u64,
    /// The tokens of the title, separated by spaces; a comment has none.
    pub title: String,
    /// The tokens of the text.
    pub body: String,
}

impl Document {
    /// The document of an article.
    pub fn of_article(article: &SourceArticle) -> Self {
        Self {
            kind: Kind::Article,
            id: article.article_id.raw(),
            article_id: article.article_id,
            board_id: article.board_id,
            writer_id: article.writer.member_id,
            created_at: article.created_at,
            version: article.version,
            title: analysed(&article.title),
            body: analysed(&plain(&article.content_html)),
        }
    }

    /// The document of a comment on an article of a board.
    pub fn of_comment(comment: &SourceComment, board_id: BoardId) -> Self {
        Self {
            kind: Kind::Comment,
            id: comment.comment_id.raw(),
            article_id: comment.article_id,
            board_id,
            writer_id: comment.writer.member_id,
            created_at: comment.created_at,
            version: comment.version,
            title: String::new(),
            body: analysed(&plain(&comment.content_html)),
        }
    }

    /// What indexing it costs goes by this.
    pub fn bytes(&self) -> usize {
        self.title.len() + self.body.len()
    }
}

/// The tokens of a text as an index is handed them.
fn analysed(text: &str) -> String {
    joined(&tokens(&composed(text)))
}

/// A change to an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This is what there is, unless something newer is known; a comment is not taken while its article is known to be gone.
    Put(Box<Document>),
    /// A comment cannot be read any more, unless something newer is known.
    CommentGone {
        /// The comment.
        comment_id: CommentId,
        /// Its article.
        article_id: ArticleId,
        /// Its version; nothing is above the greatest.
        version: u64,
    },
    /// An article cannot be read any more, unless something newer is known; then none of its comments can either.
    ArticleGone {
        /// The article.
        article_id: ArticleId,
        /// Its version.
        version: u64,
    },
}

/// The version of what never comes back.
pub const GONE_FOR_EVER: u64 = i64::MAX as u64;
