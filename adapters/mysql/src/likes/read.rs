//! Reading likes: states, counters and lists.

use std::sync::LazyLock;

use madang_board::{ArticleId, MemberId};
use madang_engine_mysql::{Cells, Many, SqlError};
use madang_event::Writer;
use madang_kernel::{Id, PageSize, Scroll, ShardId, StoreError, Timestamp};
use madang_like::{LikeCount, LikeState, Liker};

use crate::Mysql;
use crate::several_servers::{self, parts_key};

const STATE: &str = include_str!("../../sql/like/state.sql");
const LIKERS: &str = include_str!("../../sql/like/likers.sql");
const COUNTED_ARTICLES: &str = include_str!("../../sql/like/counted_articles.sql");
const GONE_ARTICLES: &str = include_str!("../../sql/like/gone_articles.sql");
static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/counts.sql")));
static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/gone.sql")));

pub(super) async fn state(
    db: &Mysql,
    article: ArticleId,
    member: Option<MemberId>,
) -> Result<Option<LikeState>, StoreError> {
    let server = db.server_of(ShardId::of_parts(article));
    // No member has id 0, so a guest likes nothing.
    let mut values = [parts_key(article), parts_key(article), parts_key(article)].concat();
    values.push(member.map_or(0, MemberId::raw).into());
    let mut found = db.read(&server, STATE, values).await?;
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
    let mut values = parts_key(article);
    values.extend([after.map_or(0, MemberId::raw).into(), (size.get() + 1).into()]);
    let found = db.read(&server, LIKERS, values).await?;
    let items = found.into_iter().map(liker).collect::<Result<Vec<_>, _>>()?;
    if !db.read(&server, GONE.sql(1), parts_key(article)).await?.is_empty() {
        return Ok(None);
    }
    Ok(Some(Scroll::from_surplus(items, size, |liker: &Liker| liker.member.member_id)))
}

/// Columns: member, name, since when.
fn liker(mut cells: Cells) -> Result<Liker, SqlError> {
    let member = Writer { member_id: MemberId::from_raw(cells.next()?), name: cells.next()? };
    Ok(Liker { member, created_at: Timestamp::from_millis(cells.next()?) })
}

pub(super) async fn counts(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<Option<LikeCount>>, StoreError> {
    several_servers::counts(db, articles, [&COUNTS, &GONE], counted).await
}

/// Columns: article, likes, version.
fn counted(mut cells: Cells) -> Result<(ArticleId, LikeCount), SqlError> {
    let article = ArticleId::from_raw(cells.next()?);
    Ok((article, LikeCount { like_count: cells.next()?, version: cells.next()? }))
}

pub(super) async fn counted_articles(
    db: &Mysql,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    several_servers::articles_after(db, COUNTED_ARTICLES, after, size.get() as usize).await
}

pub(super) async fn gone_articles(
    db: &Mysql,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    several_servers::articles_after(db, GONE_ARTICLES, after, size.get() as usize).await
}
