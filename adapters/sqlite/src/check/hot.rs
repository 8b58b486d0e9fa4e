//! Hot articles: each score as its counts have it, nothing left of what is deleted, and each kept list marked as final and
//! in the order of the scores, which no longer change.

use std::fmt;

use madang_board::ArticleId;
use madang_engine_sqlite::sql_error;
use madang_hot_article::{Day, HotItem, LISTED_MAX, Tally};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use super::{CheckFinding, CheckReport, FINDINGS_MAX, Part};
use crate::hot;

const HOT_SCORES: &str = include_str!("../../sql/check/hot_scores.sql");
const HOT_LISTS: &str = include_str!("../../sql/check/hot_lists.sql");

/// One thing wrong with the hot articles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HotFinding {
    /// A score differs from its counts.
    Score {
        /// The day in digits.
        day: i64,
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
    /// A score of the present day differs from the counter it comes from, although every event has been consumed.
    Source {
        /// The article.
        article_id: ArticleId,
        /// What is counted.
        part: Part,
        /// Count and version in the score; `None` when there is no score.
        scored: Option<(i64, i64)>,
        /// Count and version of the counter; `None` when there is none.
        counted: Option<(i64, i64)>,
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
        day: Day,
    },
    /// A kept list differs from the scores of its day.
    ListDiffers {
        /// The day.
        day: Day,
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

/// Compares all scores and lists; the caller holds one snapshot.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    compare_scores(tx, report)?;
    let mut statement = tx.prepare(HOT_LISTS).map_err(sql_error)?;
    let days = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(sql_error)?;
    for day in days {
        let (number, is_final): (i64, bool) = day.map_err(sql_error)?;
        match Day::from_number(number) {
            Some(day) => compare_list(tx, day, is_final, report)?,
            None => found(report, HotFinding::NoDay { day: number }),
        }
    }
    Ok(())
}

fn compare_scores(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut statement = tx.prepare(HOT_SCORES).map_err(sql_error)?;
    let columns = hot::COUNT_COLUMNS;
    let read = |row: &Row<'_>| {
        let article_id = ArticleId::from_raw(row.get(columns + 2)?);
        Ok((hot::tally(row)?, row.get(columns)?, row.get(columns + 1)?, article_id))
    };
    for row in statement.query_map([], read).map_err(sql_error)? {
        let (tally, stored, day, article_id): (Tally, i64, i64, _) = row.map_err(sql_error)?;
        let counted = tally.score().cast_signed();
        if stored != counted {
            found(report, HotFinding::Score { day, article_id, stored, counted });
        }
        if Day::from_number(day).is_none() {
            found(report, HotFinding::NoDay { day });
        }
        if report.findings.len() >= FINDINGS_MAX {
            break;
        }
    }
    Ok(())
}

/// Scores stand still once a day is final, and deletions leave both sides alike: the list is the beginning of the ranking.
fn compare_list(tx: &Connection, day: Day, is_final: bool, report: &mut CheckReport) -> Result<(), StoreError> {
    if !is_final {
        found(report, HotFinding::ListWithoutMark { day });
        return Ok(());
    }
    let scored = hot::top(tx, day, LISTED_MAX)?;
    for (index, listed) in hot::kept(tx, day)?.into_iter().enumerate() {
        let standing: Option<&HotItem> = scored.get(index);
        if standing != Some(&listed) {
            let (listed, scored) = (listed.article_id, standing.map(|item| item.article_id));
            found(report, HotFinding::ListDiffers { day, place: index + 1, listed, scored });
            break;
        }
    }
    Ok(())
}

pub(super) fn found(report: &mut CheckReport, finding: HotFinding) {
    report.findings.push(CheckFinding::Hot(finding));
}
