//! Lists: the ranking as it is, and what was kept of it when a day became final.

use madang_board::ArticleId;
use madang_engine_sqlite::Statements as _;
use madang_hot_article::{Day, HotItem, HotList, LISTED_MAX, TOP_MAX};
use madang_kernel::{Id, StoreError, Timestamp};
use rusqlite::{Connection, Params, Row, params};

use super::row::number;

const TOP: &str = include_str!("../../sql/hot/top.sql");
const KEPT: &str = include_str!("../../sql/hot/kept.sql");
const KEEP: &str = include_str!("../../sql/hot/keep.sql");
const IS_FINAL: &str = include_str!("../../sql/hot/is_final.sql");
const MARK_FINAL: &str = include_str!("../../sql/hot/mark_final.sql");

/// The best articles of a day by their scores.
pub(crate) fn top(tx: &Connection, day: Day, limit: usize) -> Result<Vec<HotItem>, StoreError> {
    items(tx, TOP, params![day.number(), madang_engine_sqlite::limit(limit.min(TOP_MAX))])
}

/// What is kept of a final list, in its order.
pub(crate) fn kept(tx: &Connection, day: Day) -> Result<Vec<HotItem>, StoreError> {
    items(tx, KEPT, [day.number()])
}

/// The list of a day: as it was kept when it is final, as the scores have it otherwise.
pub(super) fn list(tx: &Connection, day: Day) -> Result<HotList, StoreError> {
    let is_final = is_final(tx, day)?;
    let items = if is_final { kept(tx, day)? } else { top(tx, day, LISTED_MAX)? };
    Ok(HotList { date: day, is_final, items })
}

pub(super) fn is_final(tx: &Connection, day: Day) -> Result<bool, StoreError> {
    tx.exists(IS_FINAL, [day.number()])
}

/// Marks a day and keeps its best; false when it was marked before.
pub(super) fn finalise(tx: &Connection, day: Day, now: Timestamp) -> Result<bool, StoreError> {
    if tx.run(MARK_FINAL, [day.number(), now.as_millis()])? == 0 {
        return Ok(false);
    }
    for (place, item) in (1i64..).zip(top(tx, day, LISTED_MAX)?) {
        let HotItem { article_id, score, like_count, comment_count, view_count } = item;
        let counts = [score, like_count, comment_count, view_count].map(u64::cast_signed);
        let [score, likes, comments, views] = counts;
        tx.run(KEEP, [day.number(), place, article_id.raw(), score, likes, comments, views])?;
    }
    Ok(true)
}

fn items(tx: &Connection, sql: &str, asked: impl Params) -> Result<Vec<HotItem>, StoreError> {
    tx.list(sql, asked, item)
}

/// Columns: article, score, likes, comments, views.
fn item(row: &Row<'_>) -> rusqlite::Result<HotItem> {
    Ok(HotItem {
        article_id: ArticleId::from_raw(row.get(0)?),
        score: number(row, 1)?,
        like_count: number(row, 2)?,
        comment_count: number(row, 3)?,
        view_count: number(row, 4)?,
    })
}
