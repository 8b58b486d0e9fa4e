//! What is known of articles of a day, for a ranking that is kept beside the store.

use std::collections::HashMap;
use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_mysql::{Many, SqlError, Values};
use madang_hot_article::{Day, Tally};
use madang_kernel::Id;

use super::row;
use crate::Mysql;

static FIND_MANY: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/hot/find_many.sql")));
const AFTER: &str = include_str!("../../sql/hot/after.sql");

/// Of each of these, in the order asked.
pub(super) async fn of(db: &Mysql, day: Day, articles: &[ArticleId]) -> Result<Vec<Tally>, SqlError> {
    let mut ids: Vec<ArticleId> = articles.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let keys: Vec<Values> = ids.into_iter().map(|article| row::article_key(day, article)).collect();
    let mut rows = db.read_many(db.server_of(row::shard_of(day)), &FIND_MANY, keys).await?;
    let found = rows.iter_mut().map(row::tally).collect::<Result<HashMap<_, _>, _>>()?;
    Ok(articles.iter().map(|article| found.get(article).copied().unwrap_or_default()).collect())
}

/// Of up to `slice` articles behind another.
pub(super) async fn after(
    db: &Mysql,
    day: Day,
    after: Option<ArticleId>,
    slice: usize,
) -> Result<Vec<(ArticleId, Tally)>, SqlError> {
    let mut values = row::key(day);
    values.extend([after.map_or(i64::MIN, Id::raw).into(), slice.into()]);
    db.read(db.server_of(row::shard_of(day)), AFTER, values).await?.iter_mut().map(row::tally).collect()
}
