//! What can be wrong with a view count.

use std::fmt;

use crate::ArticleId;

/// One thing wrong with a view count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewFinding {
    /// A count of an article whose views are gone.
    CountOfGone {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: i64,
    },
    /// A counter that has changed more often than it counts, although each change adds a view.
    CountVersion {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: i64,
        /// How often it has changed.
        version: i64,
    },
    /// The newest event reports another version or count than is stored.
    EventDiffers {
        /// The article.
        article_id: ArticleId,
        /// Version and count of the event.
        reported: (i64, i64),
        /// Version and count of the row, if there is one.
        stored: Option<(i64, i64)>,
    },
}

impl fmt::Display for ViewFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountOfGone { article_id, counted } => {
                write!(f, "article {article_id} is gone and still counts {counted} views")
            }
            Self::CountVersion { article_id, counted, version } => {
                write!(f, "article {article_id} counts {counted} views after {version} changes of one view or more")
            }
            Self::EventDiffers { article_id, reported: (version, count), stored } => {
                write!(f, "article {article_id} was last reported with {count} views (version {version})")?;
                match stored {
                    Some((version, count)) => write!(f, " and has {count} (version {version})"),
                    None => f.write_str(" and has no count"),
                }
            }
        }
    }
}
