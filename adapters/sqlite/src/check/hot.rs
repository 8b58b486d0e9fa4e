//! Hot articles: each score as its counts have it, nothing left of what is deleted, and each kept list marked as final and
//! in the order of the scores, which no longer change.

use madang_board::ArticleId;
use madang_board::check::{CheckReport, DayNumber, HotFinding};
use madang_engine_sqlite::Statements as _;
use madang_hot_article::{Day, HotItem, LISTED_MAX};
use madang_kernel::{Id, StoreError};
use rusqlite::Connection;

use crate::hot;

const HOT_SCORES: &str = include_str!("../../sql/check/hot_scores.sql");
const HOT_LISTS: &str = include_str!("../../sql/check/hot_lists.sql");

/// Compares all scores and lists; the caller holds one snapshot.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    compare_scores(tx, report)?;
    let days: Vec<(i64, bool)> = tx.list(HOT_LISTS, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (number, is_final) in days {
        match Day::from_number(number) {
            Some(day) => compare_list(tx, day, is_final, report)?,
            None => report.found(HotFinding::NoDay { day: number }),
        }
    }
    Ok(())
}

fn compare_scores(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let columns = hot::COUNT_COLUMNS;
    tx.each(HOT_SCORES, [], |row| {
        let (stored, day): (i64, i64) = (row.get(columns)?, row.get(columns + 1)?);
        let article_id = ArticleId::from_raw(row.get(columns + 2)?);
        let counted = hot::tally(row)?.score().cast_signed();
        if stored != counted {
            report.found(HotFinding::Score { day: DayNumber(day), article_id, stored, counted });
        }
        if Day::from_number(day).is_none() {
            report.found(HotFinding::NoDay { day });
        }
        Ok(!report.is_full())
    })
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
