//! Reads that several servers answer together.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use madang_board::ArticleId;
use madang_engine_mysql::{Cells, Many, SqlError, Tx, Values, snapshot};
use madang_kernel::{Id as _, PageSize, Scroll, ServerIndex, ShardId, StoreError};

use crate::Mysql;

/// The rows of every server, one server after the other.
pub(crate) async fn from_each<T>(
    db: &Mysql,
    sql: &'static str,
    values: Values,
    read: fn(Cells) -> Result<T, SqlError>,
) -> Result<Vec<T>, StoreError> {
    let mut rows = Vec::new();
    for server in db.servers() {
        for cells in db.read(server, sql, values.clone()).await? {
            rows.push(read(cells)?);
        }
    }
    Ok(rows)
}

/// A step of a list of which each server gave its newest: the newest of them all.
pub(crate) fn newest_of_all<T, C: Ord>(mut found: Vec<T>, size: PageSize, id: fn(&T) -> C) -> Scroll<T, C> {
    found.sort_by_key(|item| Reverse(id(item)));
    // One more than asked for tells whether there are others.
    found.truncate(size.get() as usize + 1);
    Scroll::from_surplus(found, size, id)
}

/// The first of the articles of which each server gave its next.
pub(crate) fn first_of_all(mut found: Vec<ArticleId>, limit: usize) -> Vec<ArticleId> {
    found.sort_unstable();
    found.dedup();
    found.truncate(limit);
    found
}

/// Articles by id, after `after`: each server tells its next ones, and the first of them all are the answer.
pub(crate) async fn articles_after(
    db: &Mysql,
    sql: &'static str,
    after: Option<ArticleId>,
    limit: usize,
) -> Result<Vec<ArticleId>, StoreError> {
    let values = vec![after.map_or(i64::MIN, ArticleId::raw).into(), limit.into()];
    Ok(first_of_all(from_each(db, sql, values, article_id).await?, limit))
}

/// Column: the article.
pub(crate) fn article_id(mut cells: Cells) -> Result<ArticleId, SqlError> {
    Ok(ArticleId::from_raw(cells.next()?))
}

/// The primary key of what is counted of an article, and of the mark that it is gone.
pub(crate) fn parts_key(article: ArticleId) -> Values {
    vec![ShardId::of_parts(article).number().into(), article.raw().into()]
}

/// Keys of what is counted of articles, by the server that has it.
pub(crate) fn parts_by_server(db: &Mysql, articles: &[ArticleId]) -> HashMap<ServerIndex, Vec<Values>> {
    let (map, mut by_server) = (db.map(), HashMap::<_, Vec<Values>>::new());
    for article in articles {
        let server = map.server(ShardId::of_parts(*article));
        by_server.entry(server).or_default().push(parts_key(*article));
    }
    by_server
}

/// Counters in the order asked, of one moment on each server; `None` for an article that is gone.
pub(crate) async fn counts<C: Copy + Default>(
    db: &Mysql,
    articles: &[ArticleId],
    [counts, gone]: [&Many; 2],
    read: fn(Cells) -> Result<(ArticleId, C), SqlError>,
) -> Result<Vec<Option<C>>, StoreError> {
    let (mut found, mut ended) = (HashMap::with_capacity(articles.len()), HashSet::new());
    for (server, keys) in parts_by_server(db, articles) {
        let read_there: Result<CountsAndGone<C>, SqlError> =
            snapshot!(db.server(server), |tx| counts_in(&mut tx, &keys, [counts, gone], read));
        let (counted, gone) = read_there?;
        found.extend(counted);
        ended.extend(gone);
    }
    let one = |article: &ArticleId| (!ended.contains(article)).then(|| found.get(article).copied().unwrap_or_default());
    Ok(articles.iter().map(one).collect())
}

/// Counters, and the articles that are gone.
type CountsAndGone<C> = (Vec<(ArticleId, C)>, Vec<ArticleId>);

async fn counts_in<C>(
    tx: &mut Tx<'_>,
    keys: &[Values],
    [counts, gone]: [&Many; 2],
    read: fn(Cells) -> Result<(ArticleId, C), SqlError>,
) -> Result<CountsAndGone<C>, SqlError> {
    let counted = tx.read_many(counts, keys.to_vec()).await?.into_iter().map(read).collect::<Result<_, _>>()?;
    let ended = tx.read_many(gone, keys.to_vec()).await?.into_iter().map(article_id).collect::<Result<_, _>>()?;
    Ok((counted, ended))
}
