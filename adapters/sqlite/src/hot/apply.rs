//! Changes in: each is merged into its row, unless its day is final.

use std::collections::HashMap;

use madang_board::ArticleId;
use madang_engine_sqlite::Statements as _;
use madang_hot_article::{Day, HotChange, Replacement, Tally};
use madang_kernel::{Id, StoreError};
use rusqlite::Connection;

use super::list;
use super::row::Rows;

const LEAVE: &str = include_str!("../../sql/hot/leave.sql");

/// Merges changes; returns how many articles stand differently now.
pub(super) fn apply(tx: &Connection, changes: &[HotChange]) -> Result<u64, StoreError> {
    let mut final_days: HashMap<Day, bool> = HashMap::new();
    let mut rows = Rows::open(tx)?;
    let mut changed = 0;
    for change in changes {
        let is_final = match final_days.get(&change.day) {
            Some(known) => *known,
            None => *final_days.entry(change.day).or_insert(list::is_final(tx, change.day)?),
        };
        let mut tally = change.tally;
        if is_final {
            let Some(counting) = tally.of_final_day() else { continue };
            tally = counting;
            if tally == Tally::Gone {
                leave_list(tx, change.day, change.article_id)?;
            }
        }
        changed += u64::from(merge(&mut rows, &HotChange { tally, ..*change })?);
    }
    Ok(changed)
}

/// Replaces tallies that still stand as they were held; returns the articles that do not.
pub(super) fn replace(tx: &Connection, day: Day, tallies: &[Replacement]) -> Result<Vec<ArticleId>, StoreError> {
    let is_final = list::is_final(tx, day)?;
    let mut rows = Rows::open(tx)?;
    let mut changed = Vec::new();
    for Replacement { article_id, held, owned } in tallies {
        if rows.find(day, *article_id)?.unwrap_or_default() != *held {
            changed.push(*article_id);
            continue;
        }
        let mut owned = *owned;
        if is_final {
            let Some(counting) = owned.of_final_day() else { continue };
            owned = held.with_presence_of(counting);
            if owned == Tally::Gone {
                leave_list(tx, day, *article_id)?;
            }
        }
        rows.store(day, *article_id, owned)?;
    }
    Ok(changed)
}

fn leave_list(tx: &Connection, day: Day, article: ArticleId) -> Result<(), StoreError> {
    tx.run(LEAVE, [day.number(), article.raw()]).map(drop)
}

fn merge(rows: &mut Rows<'_>, change: &HotChange) -> Result<bool, StoreError> {
    let HotChange { day, article_id, tally } = *change;
    let known = rows.find(day, article_id)?;
    let merged = known.map_or(tally, |known| known.merge(tally));
    if known == Some(merged) {
        return Ok(false);
    }
    rows.store(day, article_id, merged)?;
    Ok(true)
}
