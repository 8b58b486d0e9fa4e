//! Reading view counts: of some articles, and which articles have one.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_mysql::{Cells, Many, SqlError};
use madang_kernel::{Id, StoreError};
use madang_view::{StoredViews, ViewCount};

use crate::Mysql;
use crate::several_servers::{self, parts_by_server};

static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/counts.sql")));
static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/gone.sql")));
const GONE_ARTICLES: &str = include_str!("../../sql/view/gone_articles.sql");
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

/// The counters of some articles, in the order asked.
pub(super) async fn counts(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<Option<ViewCount>>, StoreError> {
    several_servers::counts(db, articles, [&COUNTS, &GONE], count).await
}

/// Columns: article, count, version.
fn count(mut cells: Cells) -> Result<(ArticleId, ViewCount), SqlError> {
    let article = ArticleId::from_raw(cells.next()?);
    Ok((article, ViewCount { view_count: cells.next()?, version: cells.next()? }))
}

pub(super) async fn counted_after(
    db: &Mysql,
    after: Option<ArticleId>,
    limit: usize,
) -> Result<Vec<ArticleId>, StoreError> {
    several_servers::articles_after(db, COUNTED_ARTICLES, after, limit).await
}

pub(super) async fn gone_after(
    db: &Mysql,
    after: Option<ArticleId>,
    limit: usize,
) -> Result<Vec<ArticleId>, StoreError> {
    several_servers::articles_after(db, GONE_ARTICLES, after, limit).await
}
