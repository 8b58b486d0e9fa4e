//! Changes of one day: merged into its rows under the day's lock, unless its list is final.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_mysql::{Many, SqlError, Tx, Values};
use madang_hot_article::{Day, HotChange, Tally};

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
    // Late counts change nothing any more; a deletion does.
    let counting = changes.iter().filter(|(_, tally)| !is_final || **tally == Tally::Gone);
    let counting: Vec<(ArticleId, Tally)> = counting.map(|(article, tally)| (*article, *tally)).collect();
    let keys: Vec<Values> = counting.iter().map(|(article, _)| row::article_key(day, *article)).collect();
    if is_final {
        tx.set_many(&LEAVE, keys.clone()).await?;
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

async fn known(tx: &mut Tx<'_>, keys: Vec<Values>) -> Result<HashMap<ArticleId, Tally>, SqlError> {
    tx.read_many(&FIND_MANY, keys).await?.iter_mut().map(row::tally).collect()
}
