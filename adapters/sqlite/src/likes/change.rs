//! A like or its end as the writer sees it, and the statements that every way of counting shares.

use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::sql_error;
use madang_kernel::{EventId, Id, StoreError, Timestamp};
use madang_like::{Like, LikeCount, Replayed, Unlike, events};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Tx;

const IS_LIKED: &str = include_str!("../../sql/like/is_liked.sql");
const INSERT: &str = include_str!("../../sql/like/insert.sql");
const DELETE: &str = include_str!("../../sql/like/delete.sql");
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

/// Why an optimistic call did not commit.
#[derive(Debug)]
pub(super) enum Conflict {
    /// The counter changed after it was read: read again.
    Overtaken,
    /// The store could not answer.
    Store(StoreError),
}

impl From<StoreError> for Conflict {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
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

impl Change {
    /// Writes or removes the row; false when it was so already.
    pub(super) fn store_row(&self, tx: &Connection) -> Result<bool, StoreError> {
        let (article, member) = (self.article_id.raw(), self.member_id.raw());
        let changed = match &self.row {
            Some(row) => tx.prepare_cached(INSERT).and_then(|mut insert| {
                insert.execute(params![article, member, row.member_name, row.created_at.as_millis()])
            }),
            None => tx.prepare_cached(DELETE).and_then(|mut delete| delete.execute([article, member])),
        };
        Ok(changed.map_err(sql_error)? > 0)
    }
}

pub(super) fn is_liked(tx: &Connection, article: ArticleId, member: MemberId) -> Result<bool, StoreError> {
    let mut statement = tx.prepare_cached(IS_LIKED).map_err(sql_error)?;
    statement.exists([article.raw(), member.raw()]).map_err(sql_error)
}

/// The counter; 0 at version 0 when there is none yet.
pub(super) fn find_count(tx: &Connection, article: ArticleId) -> Result<LikeCount, StoreError> {
    let mut statement = tx.prepare_cached(FIND_COUNT).map_err(sql_error)?;
    let found = statement.query_row([article.raw()], |row| count(row, 0)).optional().map_err(sql_error)?;
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

/// Writes the event to the log, in the transaction of the change it reports.
pub(super) fn report(
    tx: &Tx,
    article: ArticleId,
    change: Replayed,
    event_id: EventId,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.report(events::changed(article, change, event_id, now))
}
