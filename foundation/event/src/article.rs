//! What happens to articles. Every event carries the whole state, so a consumer that missed one is put right by the next.

use madang_board::{ArticleId, BoardId, MemberId};
use madang_kernel::{Timestamp, millis};
use serde::{Deserialize, Serialize};

/// Who wrote something, with the name they had at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// The member.
    pub member_id: MemberId,
    /// Their name when they wrote.
    pub name: String,
}

/// How many articles a board holds, after the change that the event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardCount {
    /// Articles on the board.
    pub article_count: u64,
    /// Grows by one with each change of the count: the newer one wins.
    pub version: u64,
}

/// An article as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleHead {
    /// Names the article.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// The headline.
    pub title: String,
    /// Who wrote it, with the name they had then.
    #[serde(flatten, with = "BesideTheRest")]
    pub writer: Writer,
    /// When it was created.
    #[serde(rename = "created_at_ms", with = "millis")]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(rename = "modified_at_ms", with = "millis")]
    pub modified_at: Timestamp,
    /// 1 when created, and one more with each edit: the newer text wins.
    pub version: u64,
}

/// A writer in a message between processes, whose fields stand beside those of the article.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Writer")]
struct BesideTheRest {
    #[serde(rename = "writer_id")]
    member_id: MemberId,
    #[serde(rename = "writer_name")]
    name: String,
}

/// Where an article stands: its board, and when it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticlePlace {
    /// Names the article.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// When it was created.
    #[serde(rename = "created_at_ms", with = "millis")]
    pub created_at: Timestamp,
}

/// The newest articles of a board, with its count, of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewestArticles {
    /// Newest first.
    pub ids: Vec<ArticleId>,
    /// Whether the board holds no others.
    pub is_all: bool,
    /// How many articles the board holds.
    #[serde(flatten)]
    pub count: BoardCount,
}

/// An article as it stands after it was created or edited; the envelope's version is the article's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleState {
    /// The article.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// The headline.
    pub title: String,
    /// The text as written, in Markdown.
    pub content: String,
    /// The text as shown: rendered and cleaned once per version by the owner.
    pub content_html: String,
    /// Who wrote it.
    pub writer: Writer,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// The board's count after this change.
    pub board_count: BoardCount,
}

/// An article is gone; its version is above every earlier one, so nothing late brings it back, and only a restore, whose
/// version is above this one, does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleDeleted {
    /// The article.
    pub article_id: ArticleId,
    /// The board it was on.
    pub board_id: BoardId,
    /// The board's count after this change.
    pub board_count: BoardCount,
    /// Whether a moderator may still restore it: what belongs to it is to be kept. A second event, without this, tells its
    /// end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restorable: bool,
}
