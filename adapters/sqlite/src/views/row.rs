//! What is stored of one article's views, read in one statement.

use madang_board::ArticleId;
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError};
use madang_view::{StoredViews, ViewCount};
use rusqlite::{Connection, Row};

const FIND: &str = include_str!("../../sql/view/find.sql");

/// The count and its version, both 0 when nothing was ever written, and whether the article is gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    pub(super) view_count: u64,
    pub(super) version: u64,
    is_gone: bool,
}

impl Stored {
    /// What the port calls it.
    pub(super) fn views(self) -> StoredViews {
        if self.is_gone { StoredViews::Gone } else { StoredViews::Count(self.view_count) }
    }

    /// The counter; `None` of an article that is gone.
    pub(super) fn count(self) -> Option<ViewCount> {
        (!self.is_gone).then_some(ViewCount { view_count: self.view_count, version: self.version })
    }
}

pub(super) fn find(tx: &Connection, article: ArticleId) -> Result<Stored, StoreError> {
    let read =
        |row: &Row<'_>| Ok(Stored { view_count: number(row, 0)?, version: number(row, 1)?, is_gone: row.get(2)? });
    tx.one(FIND, [article.raw()], read)
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value = row.get::<_, Option<i64>>(column)?.unwrap_or(0);
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}
