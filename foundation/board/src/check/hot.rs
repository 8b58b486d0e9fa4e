//! What can be wrong with the hot articles.

use std::fmt;

use super::ArticlePart;
use crate::ArticleId;

/// A day in digits, as it is stored: 20260301 is the first of March.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayNumber(pub i64);

impl fmt::Display for DayNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0 / 10_000, self.0 / 100 % 100, self.0 % 100)
    }
}

/// One thing wrong with the hot articles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HotFinding {
    /// A score differs from its counts.
    Score {
        /// The day.
        day: DayNumber,
        /// The article.
        article_id: ArticleId,
        /// What is stored.
        stored: i64,
        /// What the counts give.
        counted: i64,
    },
    /// A day that is none.
    NoDay {
        /// What is stored.
        day: i64,
    },
    /// A score of the present day differs from the counter it comes from, although every event was consumed.
    Source {
        /// The article.
        article_id: ArticleId,
        /// What is counted.
        part: ArticlePart,
        /// Count and version in the score; `None` when there is no score.
        scored: Option<(i64, i64)>,
        /// Count and version of the counter; `None` when there is none.
        counted: Option<(i64, i64)>,
    },
    /// The counts in a score of the present day differ from the counters they come from, although every event was consumed.
    Counts {
        /// The article.
        article_id: ArticleId,
        /// Likes, comments and views in the score.
        scored: [u64; 3],
        /// The same in the counters.
        counted: [u64; 3],
    },
    /// The ranking of the present day is not in the order of the stored scores.
    Ranking {
        /// The first place that differs, from 1.
        place: usize,
    },
    /// An article that is there and scored as deleted, or the other way round.
    Presence {
        /// The article.
        article_id: ArticleId,
        /// Whether it is there.
        is_there: bool,
    },
    /// A kept list of a day that is not final.
    ListWithoutMark {
        /// The day.
        day: DayNumber,
    },
    /// A kept list differs from the scores of its day.
    ListDiffers {
        /// The day.
        day: DayNumber,
        /// The place of the first difference, from 1.
        place: usize,
        /// What the list has there.
        listed: ArticleId,
        /// What the scores have there.
        scored: Option<ArticleId>,
    },
}

impl fmt::Display for HotFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Score { day, article_id, stored, counted } => {
                write!(f, "article {article_id} of day {day} has a score of {stored} and counts {counted}")
            }
            Self::NoDay { day } => write!(f, "{day} is no day of hot articles"),
            Self::Source { article_id, part, scored, counted } => {
                match counted {
                    Some((count, version)) => write!(f, "article {article_id} has {count} {part} (version {version})")?,
                    None => write!(f, "article {article_id} has no counter of {part}")?,
                }
                match scored {
                    Some((count, version)) => write!(f, " and is scored with {count} (version {version})"),
                    None => f.write_str(" and is not scored"),
                }
            }
            Self::Counts { article_id, scored: [likes, comments, views], counted } => {
                write!(f, "article {article_id} is scored with {likes} likes, {comments} comments and {views} views")?;
                let [likes, comments, views] = counted;
                write!(f, " and has {likes}, {comments} and {views}")
            }
            Self::Ranking { place } => {
                write!(f, "the ranking of today differs from the stored scores from place {place} on")
            }
            Self::Presence { article_id, is_there: true } => {
                write!(f, "article {article_id} is there and scored as deleted")
            }
            Self::Presence { article_id, is_there: false } => {
                write!(f, "article {article_id} is not there and still scored")
            }
            Self::ListWithoutMark { day } => write!(f, "{day} has a final list and is not final"),
            Self::ListDiffers { day, place, listed, scored } => {
                write!(f, "the final list of {day} has article {listed} in place {place}, where the scores have ")?;
                match scored {
                    Some(article) if article == listed => f.write_str("it with other counts"),
                    Some(article) => write!(f, "{article}"),
                    None => f.write_str("none"),
                }
            }
        }
    }
}
