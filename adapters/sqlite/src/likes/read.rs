//! Reading likes: states, counters and lists, each from one snapshot.

use std::collections::HashMap;

use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::{PART, Statements as _};
use madang_event::Writer;
use madang_kernel::{Id, PageSize, Scroll, StoreError, Timestamp};
use madang_like::{LikeCount, LikeState, Liker};
use rusqlite::{Connection, Row, params};

use super::change::{count, find_count, is_liked};
use super::gone::is_gone;

const COUNTS: &str = include_str!("../../sql/like/counts.sql");
const LIKERS: &str = include_str!("../../sql/like/likers.sql");
const COUNTED_ARTICLES: &str = include_str!("../../sql/like/counted_articles.sql");

pub(super) fn state(
    tx: &Connection,
    article: ArticleId,
    member: Option<MemberId>,
) -> Result<Option<LikeState>, StoreError> {
    if is_gone(tx, article)? {
        return Ok(None);
    }
    let liked = member.map_or(Ok(false), |member| is_liked(tx, article, member))?;
    Ok(Some(LikeState { liked, like_count: find_count(tx, article)?.like_count }))
}

pub(super) fn likers(
    tx: &Connection,
    article: ArticleId,
    after: Option<MemberId>,
    size: PageSize,
) -> Result<Option<Scroll<Liker, MemberId>>, StoreError> {
    if is_gone(tx, article)? {
        return Ok(None);
    }
    let after = after.map_or(0, MemberId::raw);
    let items = tx.list(LIKERS, params![article.raw(), after, size.get() + 1], liker)?;
    Ok(Some(Scroll::from_surplus(items, size, |liker: &Liker| liker.member.member_id)))
}

/// Columns: member, name, since when.
fn liker(row: &Row<'_>) -> rusqlite::Result<Liker> {
    let member = Writer { member_id: MemberId::from_raw(row.get(0)?), name: row.get(1)? };
    Ok(Liker { member, created_at: Timestamp::from_millis(row.get(2)?) })
}

/// The counters in the order asked; `None` for an article that is gone.
pub(super) fn counts(tx: &Connection, articles: &[ArticleId]) -> Result<Vec<Option<LikeCount>>, StoreError> {
    let ids: Vec<i64> = articles.iter().map(|article| article.raw()).collect();
    let ids_json = serde_json::to_string(&ids).map_err(|error| StoreError::broken(PART, error))?;
    let found: HashMap<i64, Option<LikeCount>> = tx.list(COUNTS, [ids_json], |row| {
        let gone: bool = row.get(1)?;
        Ok((row.get(0)?, if gone { None } else { Some(count(row, 2)?) }))
    })?;
    Ok(ids.iter().map(|id| found.get(id).copied().flatten()).collect())
}

pub(super) fn counted_articles(
    tx: &Connection,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(0, ArticleId::raw);
    tx.list(COUNTED_ARTICLES, params![after, size.get()], |row| Ok(ArticleId::from_raw(row.get(0)?)))
}
