//! Reads that several servers answer together. A server may have rows of a shard that it does not hold, while that shard moves
//! and for a while afterwards; every id tells its shard, so such rows are left out here.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use madang_board::ArticleId;
use madang_engine_mysql::{Cells, Many, SqlError, Tx, Values, snapshot};
use madang_kernel::{Id as _, PageSize, Scroll, ServerIndex, ShardId, StoreError};

use crate::Mysql;

/// A list that every server has a part of, in the order of its ids.
pub(crate) struct Part<T> {
    /// Takes the values that never change, the cursor and the limit, in this order.
    pub(crate) sql: &'static str,
    /// The values before the cursor.
    pub(crate) values: Values,
    pub(crate) read: fn(Cells) -> Result<T, SqlError>,
    /// The cursor that comes after an item.
    pub(crate) cursor: fn(&T) -> i64,
    pub(crate) shard: fn(&T) -> ShardId,
}

/// From every server up to `limit` items after the cursor, of the shards that it holds; one server after the other.
pub(crate) async fn from_each<T>(db: &Mysql, part: &Part<T>, after: i64, limit: usize) -> Result<Vec<T>, StoreError> {
    let mut items = Vec::new();
    for (server, shards) in db.holders() {
        let (mut after, mut held) = (after, 0);
        loop {
            let values = [part.values.clone(), vec![after.into(), limit.into()]].concat();
            let rows = db.read(&*server, part.sql, values).await?;
            let is_last = rows.len() < limit;
            for cells in rows {
                let item = (part.read)(cells)?;
                after = (part.cursor)(&item);
                if shards.contains(&(part.shard)(&item)) {
                    held += 1;
                    items.push(item);
                }
            }
            // What was left out makes room for as many others.
            if is_last || held >= limit {
                break;
            }
        }
    }
    Ok(items)
}

/// What every server finds of the shards that it holds, without a cursor. Rows of a shard that has moved away may take the place
/// of others until they are released, which is a minute later.
pub(crate) async fn some_of_each<T>(
    db: &Mysql,
    sql: &'static str,
    values: &Values,
    read: fn(Cells) -> Result<T, SqlError>,
    shard: fn(&T) -> ShardId,
) -> Result<Vec<T>, StoreError> {
    let mut items = Vec::new();
    for (server, shards) in db.holders() {
        for cells in db.read(&*server, sql, values.clone()).await? {
            let item = read(cells)?;
            if shards.contains(&shard(&item)) {
                items.push(item);
            }
        }
    }
    Ok(items)
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
    Ok(first_of_all(from_each(db, &articles(sql), after.map_or(i64::MIN, ArticleId::raw), limit).await?, limit))
}

/// Articles that have something which lives where their parts do.
pub(crate) fn articles(sql: &'static str) -> Part<ArticleId> {
    let shard = |article: &ArticleId| ShardId::of_parts(*article);
    Part { sql, values: Vec::new(), read: article_id, cursor: |article| article.raw(), shard }
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
pub(crate) async fn counts<C: Clone + Default>(
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
    let one = |article: &ArticleId| (!ended.contains(article)).then(|| found.get(article).cloned().unwrap_or_default());
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
