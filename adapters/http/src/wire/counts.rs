//! What is asked of the owners of comments, likes and views: counts of many articles at once.

use madang_article_read::{ActiveArticle, Count, Discussion};
use madang_board::{ArticleId, BoardId};
use serde::{Deserialize, Serialize};

/// Articles whose counts one question may ask for.
pub(crate) const COUNTS_MAX: usize = 1_000;

message! {
    /// Visible comments of articles.
    CommentCountsOf { articles: Vec<ArticleId> } at "/internal/v1/comments/counts" => CountsAnswer<Discussion>
}
message! {
    /// Articles by their newest comment, which is at or before a moment (milliseconds), of one board or of all.
    ActiveOf { board_id: Option<BoardId>, until_ms: i64, limit: u32 } at "/internal/v1/comments/active" => ActiveAnswer
}
message! {
    /// The last commented first.
    ActiveAnswer { active: Vec<ActiveArticle> }
}
message! {
    /// Likes of articles.
    LikeCountsOf { articles: Vec<ArticleId> } at "/internal/v1/likes/counts" => CountsAnswer<Count>
}
message! {
    /// Views of articles.
    ViewCountsOf { articles: Vec<ArticleId> } at "/internal/v1/views/counts" => CountsAnswer<u64>
}

/// One for each article, in the order asked; `None` for one that is known to be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountsAnswer<C> {
    pub(crate) counts: Vec<Option<C>>,
}
