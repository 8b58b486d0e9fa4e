//! Reading likes: states, counters and lists.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use madang_board::{ArticleId, MemberId};
use madang_engine_mysql::{Cells, Many, SqlError, Tx, Values, snapshot};
use madang_event::Writer;
use madang_kernel::{Id, PageSize, Scroll, ServerIndex, ShardId, StoreError, Timestamp};
use madang_like::{LikeCount, LikeState, Liker};

use crate::Mysql;

const STATE: &str = include_str!("../../sql/like/state.sql");
const LIKERS: &str = include_str!("../../sql/like/likers.sql");
const COUNTED_ARTICLES: &str = include_str!("../../sql/like/counted_articles.sql");
static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/counts.sql")));
static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/gone.sql")));

fn key(article: ArticleId) -> Values {
    vec![ShardId::of_parts(article).number().into(), article.raw().into()]
}

pub(super) async fn state(
    db: &Mysql,
    article: ArticleId,
    member: Option<MemberId>,
) -> Result<Option<LikeState>, StoreError> {
    let server = db.server_of(ShardId::of_parts(article));
    // No member has id 0, so a guest likes nothing.
    let mut values = [key(article), key(article), key(article)].concat();
    values.push(member.map_or(0, MemberId::raw).into());
    let mut found = db.read(server, STATE, values).await?;
    let mut cells = found.pop().ok_or_else(|| SqlError::defect("a state without a row"))?;
    let gone: Option<i64> = cells.next()?;
    let like_count: Option<u64> = cells.next()?;
    let liked: Option<i64> = cells.next()?;
    let state = LikeState { liked: liked.is_some(), like_count: like_count.unwrap_or(0) };
    Ok(gone.is_none().then_some(state))
}

/// Reads the list first: an article that is not gone after that was not gone then.
pub(super) async fn likers(
    db: &Mysql,
    article: ArticleId,
    after: Option<MemberId>,
    size: PageSize,
) -> Result<Option<Scroll<Liker, MemberId>>, StoreError> {
    let server = db.server_of(ShardId::of_parts(article));
    let mut values = key(article);
    values.extend([after.map_or(0, MemberId::raw).into(), (size.get() + 1).into()]);
    let found = db.read(server, LIKERS, values).await?;
    let items = found.into_iter().map(liker).collect::<Result<Vec<_>, _>>()?;
    if !db.read(server, GONE.sql(1), key(article)).await?.is_empty() {
        return Ok(None);
    }
    Ok(Some(Scroll::from_surplus(items, size, |liker: &Liker| liker.member.member_id)))
}

/// Columns: member, name, since when.
fn liker(mut cells: Cells) -> Result<Liker, SqlError> {
    let member = Writer { member_id: MemberId::from_raw(cells.next()?), name: cells.next()? };
    Ok(Liker { member, created_at: Timestamp::from_millis(cells.next()?) })
}

/// The counters in the order asked; `None` for an article that is gone.
pub(super) async fn counts(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<Option<LikeCount>>, StoreError> {
    let mut by_server: HashMap<ServerIndex, Vec<Values>> = HashMap::new();
    for article in articles {
        let server = db.map().server(ShardId::of_parts(*article));
        by_server.entry(server).or_default().push(key(*article));
    }
    let mut found: HashMap<ArticleId, LikeCount> = HashMap::with_capacity(articles.len());
    let mut gone: HashSet<ArticleId> = HashSet::new();
    for (server, keys) in by_server {
        let read: Result<(HashMap<_, _>, HashSet<_>), SqlError> =
            snapshot!(db.server(server), |tx| counts_on(&mut tx, &keys));
        let (counts, ended) = read?;
        found.extend(counts);
        gone.extend(ended);
    }
    let one = |article: &ArticleId| (!gone.contains(article)).then(|| found.get(article).copied().unwrap_or_default());
    Ok(articles.iter().map(one).collect())
}

async fn counts_on(
    tx: &mut Tx<'_>,
    keys: &[Values],
) -> Result<(HashMap<ArticleId, LikeCount>, HashSet<ArticleId>), SqlError> {
    let mut counts = HashMap::with_capacity(keys.len());
    for mut cells in tx.read_many(&COUNTS, keys.to_vec()).await? {
        let article = ArticleId::from_raw(cells.next()?);
        counts.insert(article, LikeCount { like_count: cells.next()?, version: cells.next()? });
    }
    let mut gone = HashSet::new();
    for mut cells in tx.read_many(&GONE, keys.to_vec()).await? {
        gone.insert(ArticleId::from_raw(cells.next()?));
    }
    Ok((counts, gone))
}

/// Each server tells its next ones; the first of them all are the answer.
pub(super) async fn counted_articles(
    db: &Mysql,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(0, ArticleId::raw);
    let mut articles = Vec::new();
    for server in db.servers() {
        for mut cells in db.read(server, COUNTED_ARTICLES, vec![after.into(), size.get().into()]).await? {
            articles.push(ArticleId::from_raw(cells.next().map_err(StoreError::from)?));
        }
    }
    articles.sort_unstable();
    articles.truncate(size.get() as usize);
    Ok(articles)
}
