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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HotFinding {
    /// A score differs from its counts.
    #[error("article {article_id} of day {day} has a score of {stored} and counts {counted}")]
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
    #[error("{day} is no day of hot articles")]
    NoDay {
        /// What is stored.
        day: i64,
    },
    /// A score of the present day differs from the counter it comes from, although every event was consumed.
    #[error("article {article_id} {} and {}", counter(*.counted, *.part), score(*.scored))]
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
    #[error(
        "article {article_id} is scored with {} likes, {} comments and {} views and has {}, {} and {}",
        .scored[0], .scored[1], .scored[2], .counted[0], .counted[1], .counted[2]
    )]
    Counts {
        /// The article.
        article_id: ArticleId,
        /// Likes, comments and views in the score.
        scored: [u64; 3],
        /// The same in the counters.
        counted: [u64; 3],
    },
    /// The ranking of the present day is not in the order of the stored scores.
    #[error("the ranking of today differs from the stored scores from place {place} on")]
    Ranking {
        /// The first place that differs, from 1.
        place: usize,
    },
    /// An article that is there and scored as deleted, or the other way round.
    #[error("article {article_id} {}", presence(*.is_there))]
    Presence {
        /// The article.
        article_id: ArticleId,
        /// Whether it is there.
        is_there: bool,
    },
    /// A kept list of a day that is not final.
    #[error("{day} has a final list and is not final")]
    ListWithoutMark {
        /// The day.
        day: DayNumber,
    },
    /// A kept list differs from the scores of its day.
    #[error(
        "the final list of {day} has article {listed} in place {place}, where the scores have {}",
        standing(*.listed, *.scored)
    )]
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

fn counter(counted: Option<(i64, i64)>, part: ArticlePart) -> String {
    let has = |(count, version)| format!("has {count} {part} (version {version})");
    counted.map_or_else(|| format!("has no counter of {part}"), has)
}

fn score(scored: Option<(i64, i64)>) -> String {
    scored.map_or("is not scored".to_owned(), |(count, version)| format!("is scored with {count} (version {version})"))
}

fn presence(is_there: bool) -> &'static str {
    if is_there { "is there and scored as deleted" } else { "is not there and still scored" }
}

fn standing(listed: ArticleId, scored: Option<ArticleId>) -> String {
    match scored {
        Some(article) if article == listed => "it with other counts".to_owned(),
        Some(article) => article.to_string(),
        None => "none".to_owned(),
    }
}
