//! A like or its end as the writer sees it, and the counter as it is read.

use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{EventId, Id, StoreError, Timestamp};
use madang_like::{Like, LikeCount, Unlike};
use rusqlite::{Connection, Row};

const IS_LIKED: &str = include_str!("../../sql/like/is_liked.sql");
const FIND_COUNT: &str = include_str!("../../sql/like/find_count.sql");

/// What one caller wants.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) article_id: ArticleId,
    pub(super) member_id: MemberId,
    pub(super) event_id: EventId,
    /// The row to be there; `None` when it is to go.
    pub(super) row: Option<NewRow>,
}

/// What a like keeps beside its key.
#[derive(Debug, Clone)]
pub(super) struct NewRow {
    pub(super) member_name: String,
    pub(super) created_at: Timestamp,
}

impl From<Like> for Change {
    fn from(like: Like) -> Self {
        let Like { article_id, member, created_at, event_id } = like;
        let row = Some(NewRow { member_name: member.name, created_at });
        Self { article_id, member_id: member.member_id, event_id, row }
    }
}

impl From<Unlike> for Change {
    fn from(unlike: Unlike) -> Self {
        let Unlike { article_id, member_id, event_id } = unlike;
        Self { article_id, member_id, event_id, row: None }
    }
}

pub(super) fn is_liked(tx: &Connection, article: ArticleId, member: MemberId) -> Result<bool, StoreError> {
    tx.exists(IS_LIKED, [article.raw(), member.raw()])
}

/// The counter; 0 at version 0 when there is none yet.
pub(super) fn find_count(tx: &Connection, article: ArticleId) -> Result<LikeCount, StoreError> {
    let found = tx.find(FIND_COUNT, [article.raw()], |row| count(row, 0))?;
    Ok(found.unwrap_or_default())
}

/// Columns from `first` on: count, version.
pub(super) fn count(row: &Row<'_>, first: usize) -> rusqlite::Result<LikeCount> {
    let number = |column: usize| {
        let value: i64 = row.get(column)?;
        u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
    };
    Ok(LikeCount { like_count: number(first)?, version: number(first + 1)? })
}
