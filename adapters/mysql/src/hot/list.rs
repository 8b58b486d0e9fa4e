//! Lists: the ranking as it is, and what was kept of it when a day became final.

use std::sync::LazyLock;

use madang_engine_mysql::{Many, SqlError, Tx};
use madang_hot_article::{Day, HotItem, HotList, LISTED_MAX, TOP_MAX};
use madang_kernel::{Id, Timestamp};

use super::{apply, row};

static KEEP: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/hot/keep.sql")));
const TOP: &str = include_str!("../../sql/hot/top.sql");
const KEPT: &str = include_str!("../../sql/hot/kept.sql");
const IS_FINAL: &str = include_str!("../../sql/hot/is_final.sql");
const MARK_FINAL: &str = include_str!("../../sql/hot/mark_final.sql");

/// The best articles of a day by their scores.
pub(crate) async fn top(tx: &mut Tx<'_>, day: Day, limit: usize) -> Result<Vec<HotItem>, SqlError> {
    let mut values = row::key(day);
    values.push(limit.min(TOP_MAX).into());
    tx.read(TOP, values).await?.into_iter().map(row::item).collect()
}

/// The lists of days: as they were kept when they are final, as the scores have it otherwise.
pub(crate) async fn lists(tx: &mut Tx<'_>, days: &[Day]) -> Result<Vec<HotList>, SqlError> {
    let mut lists = Vec::with_capacity(days.len());
    for day in days {
        let is_final = is_final(tx, *day).await?;
        let items = if is_final { kept(tx, *day).await? } else { top(tx, *day, LISTED_MAX).await? };
        lists.push(HotList { date: *day, is_final, items });
    }
    Ok(lists)
}

/// What is kept of a final list, in its order.
async fn kept(tx: &mut Tx<'_>, day: Day) -> Result<Vec<HotItem>, SqlError> {
    tx.read(KEPT, row::key(day)).await?.into_iter().map(row::item).collect()
}

pub(crate) async fn is_final(tx: &mut Tx<'_>, day: Day) -> Result<bool, SqlError> {
    tx.first(IS_FINAL, row::key(day)).await?.map_or(Ok(false), |mut cells| cells.next())
}

/// Marks a day and keeps its best; false when it was marked before.
pub(super) async fn finalise(tx: &mut Tx<'_>, day: Day, now: Timestamp) -> Result<bool, SqlError> {
    apply::lock(tx, day).await?;
    if is_final(tx, day).await? {
        return Ok(false);
    }
    let best = top(tx, day, LISTED_MAX).await?;
    let mut mark = vec![now.as_millis().into()];
    mark.extend(row::key(day));
    tx.write(MARK_FINAL, mark).await?;
    let places = (1u8..).zip(best).map(|(place, item)| {
        let HotItem { article_id, score, like_count, comment_count, view_count } = item;
        let mut values = row::key(day);
        values.extend([place.into(), article_id.raw().into()]);
        values.extend([score, like_count, comment_count, view_count].map(Into::into));
        values
    });
    tx.insert_many(&KEEP, places.collect()).await?;
    Ok(true)
}
