//! What can be wrong with a view count.

use crate::ArticleId;

/// One thing wrong with a view count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewFinding {
    /// A count of an article whose views are gone.
    #[error("article {article_id} is gone and still counts {counted} views")]
    CountOfGone {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: i64,
    },
    /// A counter that has changed more often than it counts, although each change adds a view.
    #[error("article {article_id} counts {counted} views after {version} changes of one view or more")]
    CountVersion {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: i64,
        /// How often it has changed.
        version: i64,
    },
    /// The newest event reports another version or count than is stored.
    #[error("article {article_id} was last reported with {} views (version {}) and {}", .reported.1, .reported.0, count(*.stored))]
    EventDiffers {
        /// The article.
        article_id: ArticleId,
        /// Version and count of the event.
        reported: (i64, i64),
        /// Version and count of the row, if there is one.
        stored: Option<(i64, i64)>,
    },
}

fn count(stored: Option<(i64, i64)>) -> String {
    stored.map_or("has no count".to_owned(), |(version, count)| format!("has {count} (version {version})"))
}
