//! Writing one live count back: the row, its version and its event, or nothing at all.

use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError, Timestamp};
use madang_view::{StoredViews, WriteBack, WrittenBack, events};
use rusqlite::params;

use super::row;
use crate::Tx;

const SET: &str = include_str!("../../sql/view/set.sql");

/// Stores the greater of both counts; only a change is reported.
pub(super) fn write_back(tx: &Tx, back: WriteBack, now: Timestamp) -> Result<WrittenBack, StoreError> {
    let article_id = back.article_id;
    let stored = row::find(tx, article_id)?;
    let is_news = matches!(stored.views(), StoredViews::Count(count) if back.view_count > count);
    if !is_news {
        return Ok(WrittenBack { article_id, stored: stored.views() });
    }
    let version = stored.version + 1;
    let view_count = i64::try_from(back.view_count).map_err(|error| StoreError::broken("view count", error))?;
    tx.run(SET, params![article_id.raw(), view_count, version.cast_signed()])?;
    tx.report(events::viewed(back, version, now))?;
    Ok(WrittenBack { article_id, stored: StoredViews::Count(back.view_count) })
}
