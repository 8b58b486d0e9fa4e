//! Upkeep in slices: days that are over are forgotten, scores are computed anew.

use madang_board::ArticleId;
use madang_engine_sqlite::{Statements as _, limit};
use madang_hot_article::{Day, Forgotten, RankingSlice, Tally};
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use super::row;

const OLDEST_BEFORE: &str = include_str!("../../sql/hot/oldest_before.sql");
const FORGET_SCORES: &str = include_str!("../../sql/hot/forget_scores.sql");
const FORGET_LISTS: &str = include_str!("../../sql/hot/forget_lists.sql");
const FORGET_MARKS: &str = include_str!("../../sql/hot/forget_marks.sql");
const AFTER: &str = include_str!("../../sql/hot/after.sql");
const SET_SCORE: &str = include_str!("../../sql/hot/set_score.sql");

/// Removes a slice of the oldest day's scores, and with the first slice the lists and marks of all those days.
pub(super) fn forget_before(tx: &Connection, day: Day, slice: usize) -> Result<Forgotten, StoreError> {
    let mut removed = 0;
    for sql in [FORGET_LISTS, FORGET_MARKS] {
        removed += tx.run(sql, [day.number()])?;
    }
    let oldest = || tx.find(OLDEST_BEFORE, [day.number()], |row| row.get::<_, i64>(0));
    if let Some(old) = oldest()? {
        removed += tx.run(FORGET_SCORES, [old, limit(slice.max(1))])?;
    }
    Ok(Forgotten { removed: removed as u64, done: oldest()?.is_none() })
}

/// A row as it is stored.
struct Stored {
    tally: Tally,
    score: i64,
    day: i64,
    article: i64,
}

/// Computes a slice of scores anew.
pub(super) fn rebuild_ranking(
    tx: &Connection,
    after: Option<(Day, ArticleId)>,
    slice: usize,
) -> Result<RankingSlice, StoreError> {
    let slice = slice.max(1);
    let rows = stored_after(tx, after, slice)?;
    let mut corrected = 0;
    for stored in &rows {
        let score = stored.tally.score().cast_signed();
        if stored.score != score {
            corrected += tx.run(SET_SCORE, [stored.day, stored.article, score])? as u64;
        }
    }
    let next = match rows.last() {
        Some(last) if rows.len() == slice => Some((row::day(last.day)?, ArticleId::from_raw(last.article))),
        _ => None,
    };
    Ok(RankingSlice { looked_at: rows.len() as u64, corrected, next })
}

fn stored_after(tx: &Connection, after: Option<(Day, ArticleId)>, slice: usize) -> Result<Vec<Stored>, StoreError> {
    let (day, article) = after.map_or((i64::MIN, i64::MIN), |(day, article)| (day.number(), article.raw()));
    let columns = super::COUNT_COLUMNS;
    let read = |row: &Row<'_>| {
        let (score, day, article) = (row.get(columns)?, row.get(columns + 1)?, row.get(columns + 2)?);
        Ok(Stored { tally: row::tally(row)?, score, day, article })
    };
    tx.list(AFTER, [day, article, limit(slice)], read)
}
