//! Reads of what moderators removed, and of what is there at all.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use madang_article::RemovedArticle;
use madang_board::ArticleId;
use madang_engine_mysql::{Many, SqlError, Tx, Values, snapshot};
use madang_kernel::{Id, ServerIndex, StoreError, Timestamp};

use super::row;
use crate::Mysql;
use crate::several_servers::{article_id, some_of_each};

static FIND_REMOVED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/find_removed.sql")));
static BOARDS_OF: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/boards_of.sql")));
static REMOVED_BOARDS_OF: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/article/removed_boards_of.sql")));
const UNTIL: &str = include_str!("../../sql/article/removed_until.sql");

/// One removed article.
pub(super) async fn find(db: &Mysql, article: ArticleId) -> Result<Option<RemovedArticle>, StoreError> {
    let server = db.server_of(article.shard());
    let mut found = db.read_many(server, &FIND_REMOVED, vec![row::key(article)]).await?;
    Ok(found.pop().map(row::removed).transpose()?)
}

/// Articles that were removed at a moment or before: each server tells some.
pub(super) async fn until(db: &Mysql, until: Timestamp, most: usize) -> Result<Vec<ArticleId>, StoreError> {
    let values = vec![until.as_millis().into(), most.into()];
    let mut found = some_of_each(db, UNTIL, &values, article_id, |article| article.shard()).await?;
    found.truncate(most);
    Ok(found)
}

/// Whether there are such articles, or removed ones; those of a server of one moment.
pub(super) async fn holds(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<bool>, StoreError> {
    let (map, mut by_server) = (db.map(), HashMap::<ServerIndex, Vec<Values>>::new());
    for article in articles {
        by_server.entry(map.server(article.shard())).or_default().push(row::key(*article));
    }
    let mut held = HashSet::with_capacity(articles.len());
    for (server, keys) in by_server {
        let found: Result<Vec<ArticleId>, SqlError> = snapshot!(db.server(server), |tx| held_in(&mut tx, &keys));
        held.extend(found?);
    }
    Ok(articles.iter().map(|article| held.contains(article)).collect())
}

async fn held_in(tx: &mut Tx<'_>, keys: &[Values]) -> Result<Vec<ArticleId>, SqlError> {
    let mut held = Vec::with_capacity(keys.len());
    for statement in [&BOARDS_OF, &REMOVED_BOARDS_OF] {
        for cells in tx.read_many(statement, keys.to_vec()).await? {
            held.push(article_id(cells)?);
        }
    }
    Ok(held)
}
