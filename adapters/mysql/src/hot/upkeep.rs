//! Upkeep in slices: days that are over are forgotten, scores are computed anew.

use std::collections::BTreeSet;

use madang_board::ArticleId;
use madang_engine_mysql::{SqlError, Tx, transact};
use madang_hot_article::{Day, Forgotten, LISTED_MAX, RankingSlice};
use madang_kernel::{Id, StoreError};

use super::{apply, row};
use crate::Mysql;

const DAYS: &str = include_str!("../../sql/hot/days.sql");
const FORGET_SCORES: &str = include_str!("../../sql/hot/forget_scores.sql");
const FORGET_LIST: &str = include_str!("../../sql/hot/forget_list.sql");
const FORGET_DAY: &str = include_str!("../../sql/hot/forget_day.sql");
const AFTER: &str = include_str!("../../sql/hot/after.sql");
const SET_SCORE: &str = include_str!("../../sql/hot/set_score.sql");

/// Every day that anything is known of, whichever server has it.
pub(crate) async fn days(db: &Mysql) -> Result<BTreeSet<Day>, StoreError> {
    let mut days = BTreeSet::new();
    for (server, shards) in db.holders() {
        for mut cells in db.read(server, DAYS, Vec::new()).await? {
            let number: i64 = cells.next()?;
            let day = Day::from_number(number).ok_or_else(|| SqlError::defect(format!("{number} is no day")))?;
            if shards.contains(&row::shard_of(day)) {
                days.insert(day);
            }
        }
    }
    Ok(days)
}

/// Removes a slice of the oldest day's scores, and with it the day's list; with the last slice the day.
pub(super) async fn forget_before(db: &Mysql, before: Day, slice: usize) -> Result<Forgotten, StoreError> {
    let mut old = days(db).await?.into_iter().filter(|day| *day < before);
    let Some(oldest) = old.next() else { return Ok(Forgotten { removed: 0, done: true }) };
    let slice = slice.max(1) as u64;
    let forgotten: Result<(u64, bool), SqlError> =
        transact!(db, row::shard_of(oldest), |tx| forget_slice(&mut tx, oldest, slice));
    let (removed, is_forgotten) = forgotten?;
    Ok(Forgotten { removed, done: is_forgotten && old.next().is_none() })
}

async fn forget_slice(tx: &mut Tx<'_>, day: Day, slice: u64) -> Result<(u64, bool), SqlError> {
    apply::lock(tx, day).await?;
    let mut limited = row::key(day);
    limited.push(LISTED_MAX.into());
    let listed = tx.write(FORGET_LIST, limited).await?;
    let mut limited = row::key(day);
    limited.push(slice.into());
    let scores = tx.write(FORGET_SCORES, limited).await?;
    if scores == slice {
        return Ok((listed + scores, false));
    }
    Ok((listed + scores + tx.write(FORGET_DAY, row::key(day)).await?, true))
}

/// Computes a slice of scores anew, day by day, each in a transaction of its own.
pub(super) async fn rebuild_ranking(
    db: &Mysql,
    after: Option<(Day, ArticleId)>,
    slice: usize,
) -> Result<RankingSlice, StoreError> {
    let mut left = slice.max(1);
    let mut sum = RankingSlice { looked_at: 0, corrected: 0, next: None };
    let is_ahead = |day: &Day| after.is_none_or(|(from, _)| *day >= from);
    for day in days(db).await?.into_iter().filter(is_ahead) {
        let from = after.filter(|(from, _)| *from == day).map_or(i64::MIN, |(_, article)| article.raw());
        let rebuilt: Result<Rebuilt, SqlError> =
            transact!(db, row::shard_of(day), |tx| rebuild_day(&mut tx, day, from, left));
        let Rebuilt { looked_at, corrected, last } = rebuilt?;
        sum.looked_at += looked_at as u64;
        sum.corrected += corrected;
        left -= looked_at;
        if left == 0 {
            sum.next = last.map(|last| (day, last));
            break;
        }
    }
    Ok(sum)
}

/// What was done to a day.
struct Rebuilt {
    looked_at: usize,
    corrected: u64,
    last: Option<ArticleId>,
}

async fn rebuild_day(tx: &mut Tx<'_>, day: Day, from: i64, limit: usize) -> Result<Rebuilt, SqlError> {
    apply::lock(tx, day).await?;
    let mut values = row::key(day);
    values.extend([from.into(), limit.into()]);
    let mut rebuilt = Rebuilt { looked_at: 0, corrected: 0, last: None };
    for mut cells in tx.read(AFTER, values).await? {
        let (article, tally) = row::tally(&mut cells)?;
        let (stored, score): (i64, i64) = (cells.next()?, row::falling_score(tally));
        rebuilt.looked_at += 1;
        rebuilt.last = Some(article);
        if stored != score {
            let mut values = vec![score.into()];
            values.extend(row::article_key(day, article));
            rebuilt.corrected += tx.write(SET_SCORE, values).await?;
        }
    }
    Ok(rebuilt)
}
