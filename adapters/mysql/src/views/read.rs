//! Reading view counts: of some articles, and which articles have one.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_mysql::Many;
use madang_kernel::{Id, StoreError};
use madang_view::StoredViews;

use crate::Mysql;
use crate::several_servers::{article_id, first_of_all, from_each, parts_by_server};

static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/counts.sql")));
static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/gone.sql")));
const COUNTED_ARTICLES: &str = include_str!("../../sql/view/counted_articles.sql");

/// What is stored of some articles, in the order asked.
pub(super) async fn find_many(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<StoredViews>, StoreError> {
    let (mut counts, mut gone) = (HashMap::new(), HashSet::new());
    for (server, keys) in parts_by_server(db, articles) {
        for mut cells in db.read_many(db.server(server), &COUNTS, keys.clone()).await? {
            counts.insert(ArticleId::from_raw(cells.next()?), cells.next()?);
        }
        // Afterwards: a count that was missing because its article is gone is then known to be.
        for mut cells in db.read_many(db.server(server), &GONE, keys).await? {
            gone.insert(ArticleId::from_raw(cells.next()?));
        }
    }
    let one = |article: &ArticleId| match counts.get(article) {
        _ if gone.contains(article) => StoredViews::Gone,
        Some(count) => StoredViews::Count(*count),
        None => StoredViews::Count(0),
    };
    Ok(articles.iter().map(one).collect())
}

/// Each server tells its next ones; the first of them all are the answer.
pub(super) async fn counted_after(
    db: &Mysql,
    after: Option<ArticleId>,
    limit: usize,
) -> Result<Vec<ArticleId>, StoreError> {
    let values = vec![after.map_or(i64::MIN, ArticleId::raw).into(), limit.into()];
    Ok(first_of_all(from_each(db, COUNTED_ARTICLES, values, article_id).await?, limit))
}
