//! Comments: every counter against its rows, rows without a counter, replies without what they reply to.

use madang_board::check::{CheckFinding, CheckReport};
use madang_board::{ArticleId, CommentId};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError};
use rusqlite::Connection;

const COUNTS: &str = include_str!("../../sql/check/comment_counts.sql");
const UNCOUNTED: &str = include_str!("../../sql/check/comments_uncounted.sql");
const ORPHANS: &str = include_str!("../../sql/check/comment_orphans.sql");

/// Compares all comments; the caller holds one snapshot. Of an article that is gone, rows may wait to be cleaned up, but a
/// counter may not be left.
pub(super) fn compare(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    compare_counters(tx, report)?;
    tx.each(UNCOUNTED, [], |row| {
        let (article_id, rows) = (ArticleId::from_raw(row.get(0)?), row.get(1)?);
        report.found(CheckFinding::CommentCount { article_id, counted: [0, 0], rows: [rows, rows] });
        Ok(true)
    })?;
    tx.each(ORPHANS, [], |row| {
        report.found(CheckFinding::CommentOrphan { comment_id: CommentId::from_raw(row.get(0)?) });
        Ok(true)
    })
}

fn compare_counters(tx: &Connection, report: &mut CheckReport) -> Result<(), StoreError> {
    tx.each(COUNTS, [], |row| {
        let number = |column| row.get::<_, i64>(column);
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
        let (noted, newest) = (number(10)?, number(11)?);
        if number(9)? != 0 && noted != newest {
            report.found(CheckFinding::LastComment { article_id, noted, newest });
        }
        Ok(true)
    })
}
