//! Changes of one day: merged into its rows under the day's lock, unless its list is final.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_mysql::{Many, SqlError, Tx, Values};
use madang_hot_article::{Day, HotChange, Replacement, Tally};

use super::{list, row};

static FIND_MANY: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/hot/find_many.sql")));
static STORE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/hot/store.sql")));
static LEAVE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/hot/leave.sql")));
const LOCK_DAY: &str = include_str!("../../sql/hot/lock_day.sql");

/// What is to be merged into a day, an article once.
pub(super) type DayChanges = BTreeMap<ArticleId, Tally>;

/// Changes by their days.
pub(super) fn by_day(changes: &[HotChange]) -> BTreeMap<Day, DayChanges> {
    let mut days: BTreeMap<Day, DayChanges> = BTreeMap::new();
    for HotChange { day, article_id, tally } in changes {
        let known = days.entry(*day).or_default().entry(*article_id).or_default();
        *known = known.merge(*tally);
    }
    days
}

/// Waits until nobody else changes the day.
pub(super) async fn lock(tx: &mut Tx<'_>, day: Day) -> Result<(), SqlError> {
    tx.write(LOCK_DAY, row::key(day)).await.map(|_| ())
}

/// Merges changes; returns how many articles stand differently now.
pub(super) async fn apply(tx: &mut Tx<'_>, day: Day, changes: &DayChanges) -> Result<u64, SqlError> {
    lock(tx, day).await?;
    let is_final = list::is_final(tx, day).await?;
    let counting = |tally: Tally| if is_final { tally.of_final_day() } else { Some(tally) };
    let counting = changes.iter().filter_map(|(article, tally)| Some((*article, counting(*tally)?)));
    let counting: Vec<(ArticleId, Tally)> = counting.collect();
    let keys: Vec<Values> = counting.iter().map(|(article, _)| row::article_key(day, *article)).collect();
    if is_final {
        let gone = counting.iter().filter(|(_, tally)| *tally == Tally::Gone);
        tx.set_many(&LEAVE, gone.map(|(article, _)| row::article_key(day, *article)).collect()).await?;
    }
    let known = known(tx, keys).await?;
    let mut stored = Vec::new();
    for (article, tally) in counting {
        let before = known.get(&article).copied();
        let merged = before.map_or(tally, |before| before.merge(tally));
        if before != Some(merged) {
            stored.push(row::values(day, article, merged));
        }
    }
    let changed = stored.len() as u64;
    tx.set_many(&STORE, stored).await?;
    Ok(changed)
}

/// Replaces tallies that still stand as they were held; returns the articles that do not.
pub(super) async fn replace(tx: &mut Tx<'_>, day: Day, tallies: &[Replacement]) -> Result<Vec<ArticleId>, SqlError> {
    lock(tx, day).await?;
    let is_final = list::is_final(tx, day).await?;
    let key = |replacement: &Replacement| row::article_key(day, replacement.article_id);
    let known = known(tx, tallies.iter().map(key).collect()).await?;
    let stands = |replacement: &&Replacement| {
        known.get(&replacement.article_id).copied().unwrap_or_default() == replacement.held
    };
    let (standing, changed): (Vec<_>, Vec<_>) = tallies.iter().partition(stands);
    let taken = standing.into_iter().filter_map(|replacement: &Replacement| {
        if !is_final {
            return Some(*replacement);
        }
        let owned = replacement.held.with_presence_of(replacement.owned.of_final_day()?);
        Some(Replacement { owned, ..*replacement })
    });
    let taken: Vec<Replacement> = taken.collect();
    if is_final {
        let gone = taken.iter().filter(|replacement| replacement.owned == Tally::Gone);
        tx.set_many(&LEAVE, gone.map(key).collect()).await?;
    }
    let rows = taken.iter().map(|replacement| row::values(day, replacement.article_id, replacement.owned));
    tx.set_many(&STORE, rows.collect()).await?;
    Ok(changed.into_iter().map(|replacement| replacement.article_id).collect())
}

async fn known(tx: &mut Tx<'_>, keys: Vec<Values>) -> Result<HashMap<ArticleId, Tally>, SqlError> {
    tx.read_many(&FIND_MANY, keys).await?.iter_mut().map(row::tally).collect()
}
