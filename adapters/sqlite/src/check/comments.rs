//! Comments: every counter against its rows, rows without a counter, replies without what they reply to.

use madang_board::check::{CheckFinding, CheckReport};
use madang_board::{ArticleId, CommentId};
use madang_engine_sqlite::sql_error;
use madang_kernel::{Id, StoreError};
use rusqlite::Connection;

const COUNTS: &str = include_str!("../../sql/check/comment_counts.sql");
const UNCOUNTED: &str = include_str!("../../sql/check/comments_uncounted.sql");
const ORPHANS: &str = include_str!("../../sql/check/comment_orphans.sql");

/// Compares all comments; the caller holds one snapshot. Of an article that is gone, rows may wait to be cleaned up, but a
/// counter may not be left.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    compare_counters(tx, report)?;
    let mut statement = tx.prepare(UNCOUNTED).map_err(sql_error)?;
    let uncounted = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(sql_error)?;
    for entry in uncounted {
        let (article, rows) = entry.map_err(sql_error)?;
        let article_id = ArticleId::from_raw(article);
        report.found(CheckFinding::CommentCount { article_id, counted: [0, 0], rows: [rows, rows] });
    }
    let mut statement = tx.prepare(ORPHANS).map_err(sql_error)?;
    let orphans = statement.query_map([], |row| row.get(0)).map_err(sql_error)?;
    for comment in orphans {
        let comment_id = CommentId::from_raw(comment.map_err(sql_error)?);
        report.found(CheckFinding::CommentOrphan { comment_id });
    }
    Ok(())
}

fn compare_counters(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    let mut statement = tx.prepare(COUNTS).map_err(sql_error)?;
    let mut counters = statement.query([]).map_err(sql_error)?;
    while let Some(row) = counters.next().map_err(sql_error)? {
        let number = |column| row.get::<_, i64>(column).map_err(sql_error);
        let article_id = ArticleId::from_raw(number(0)?);
        let (counted, version, known) = ([number(1)?, number(2)?], number(3)?, number(4)?);
        // A mark has no text, so the texts are the visible comments.
        let (rows, greatest) = ([number(6)?, number(5)?], number(7)?);
        if counted != rows {
            report.found(CheckFinding::CommentCount { article_id, counted, rows });
        }
        if version < counted[1] || known < greatest {
            report.found(CheckFinding::CommentCountVersion { article_id, version, known, greatest });
        }
        if number(8)? != 0 {
            report.found(CheckFinding::CommentCountOfGone { article_id });
        }
    }
    Ok(())
}
