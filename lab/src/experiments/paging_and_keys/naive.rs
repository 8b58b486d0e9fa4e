//! Pages and counts as the first version of a board has them: skip what comes before, count what is there.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::PAGE;

/// Skips rows, each read whole.
pub(super) async fn offset(conn: &mut Conn, skip: u64) -> mysql_async::Result<Vec<i64>> {
    let page = "SELECT article_id, title, writer_id FROM article WHERE board_id = 1 \
                ORDER BY article_id DESC LIMIT ? OFFSET ?";
    let rows: Vec<(i64, String, i64)> = conn.exec(page, (PAGE, skip)).await?;
    Ok(rows.into_iter().map(|(id, ..)| id).collect())
}

/// Skips entries of the index, and reads only the rows of the page whole.
pub(super) async fn covering(conn: &mut Conn, skip: u64) -> mysql_async::Result<Vec<i64>> {
    let page = "SELECT a.article_id, a.title, a.writer_id FROM \
                (SELECT article_id FROM article FORCE INDEX (board_article) WHERE board_id = 1 \
                ORDER BY article_id DESC LIMIT ? OFFSET ?) AS page \
                JOIN article AS a ON a.article_id = page.article_id ORDER BY a.article_id DESC";
    let rows: Vec<(i64, String, i64)> = conn.exec(page, (PAGE, skip)).await?;
    Ok(rows.into_iter().map(|(id, ..)| id).collect())
}

/// Counts every row of a board.
pub(super) async fn count(conn: &mut Conn) -> mysql_async::Result<u64> {
    Ok(conn.query_first("SELECT COUNT(*) FROM article WHERE board_id = 1").await?.unwrap_or(0))
}
