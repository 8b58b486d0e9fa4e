//! Hot articles: each score as its counts have it, nothing left of what is deleted, and each kept list marked as final and
//! in the order of the scores, which no longer change.

use madang_board::ArticleId;
use madang_board::check::{CheckReport, DayNumber, HotFinding};
use madang_engine_sqlite::sql_error;
use madang_hot_article::{Day, HotItem, LISTED_MAX, Tally};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use crate::hot;

const HOT_SCORES: &str = include_str!("../../sql/check/hot_scores.sql");
const HOT_LISTS: &str = include_str!("../../sql/check/hot_lists.sql");

/// Compares all scores and lists; the caller holds one snapshot.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    compare_scores(tx, report)?;
    let mut statement = tx.prepare(HOT_LISTS).map_err(sql_error)?;
    let days = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(sql_error)?;
    for day in days {
        let (number, is_final): (i64, bool) = day.map_err(sql_error)?;
        match Day::from_number(number) {
            Some(day) => compare_list(tx, day, is_final, report)?,
            None => report.found(HotFinding::NoDay { day: number }),
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
            report.found(HotFinding::Score { day: DayNumber(day), article_id, stored, counted });
        }
        if Day::from_number(day).is_none() {
            report.found(HotFinding::NoDay { day });
        }
        if report.is_full() {
            break;
        }
    }
    Ok(())
}

/// Scores stand still once a day is final, and deletions leave both sides alike: the list is the beginning of the ranking.
fn compare_list(tx: &Connection, day: Day, is_final: bool, report: &mut CheckReport) -> Result<(), StoreError> {
    if !is_final {
        report.found(HotFinding::ListWithoutMark { day: DayNumber(day.number()) });
        return Ok(());
    }
    let scored = hot::top(tx, day, LISTED_MAX)?;
    for (index, listed) in hot::kept(tx, day)?.into_iter().enumerate() {
        let standing: Option<&HotItem> = scored.get(index);
        if standing != Some(&listed) {
            let (listed, scored) = (listed.article_id, standing.map(|item| item.article_id));
            report.found(HotFinding::ListDiffers { day: DayNumber(day.number()), place: index + 1, listed, scored });
            break;
        }
    }
    Ok(())
}
