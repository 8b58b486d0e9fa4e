//! What is asked of the owners of comments, likes and views: counts of many articles at once.

use madang_article_read::Count;
use madang_board::ArticleId;
use serde::{Deserialize, Serialize};

use super::Question;

/// Articles whose counts one question may ask for.
pub(crate) const COUNTS_MAX: usize = 1_000;

/// Visible comments of articles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommentCountsOf {
    pub(crate) articles: Vec<ArticleId>,
}

/// Likes of articles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LikeCountsOf {
    pub(crate) articles: Vec<ArticleId>,
}

/// Views of articles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ViewCountsOf {
    pub(crate) articles: Vec<ArticleId>,
}

/// One for each article, in the order asked; `None` for one that is known to be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountsAnswer {
    pub(crate) counts: Vec<Option<CountBody>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountBody {
    count: u64,
    version: u64,
}

/// One for each article, in the order asked; `None` for one that is known to be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ViewCountsAnswer {
    pub(crate) counts: Vec<Option<u64>>,
}

impl Question for CommentCountsOf {
    const PATH: &'static str = "/internal/v1/comments/counts";
    type Answer = CountsAnswer;
}

impl Question for LikeCountsOf {
    const PATH: &'static str = "/internal/v1/likes/counts";
    type Answer = CountsAnswer;
}

impl Question for ViewCountsOf {
    const PATH: &'static str = "/internal/v1/views/counts";
    type Answer = ViewCountsAnswer;
}

impl From<Count> for CountBody {
    fn from(count: Count) -> Self {
        let Count { count, version } = count;
        Self { count, version }
    }
}

impl From<CountBody> for Count {
    fn from(body: CountBody) -> Self {
        let CountBody { count, version } = body;
        Self { count, version }
    }
}
