//! The rows that pages are read from, made by the server itself.

use anyhow::ensure;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

/// Ids have gaps, as those of a board have: without them a page could be found by arithmetic.
const ID_STEP: i64 = 16;
/// Articles of a small block.
const SMALL: i64 = 1_000;
/// Small blocks of a large one.
const SMALL_PER_LARGE: i64 = 64;

const TABLES: [&str; 4] = [
    "CREATE TABLE article (article_id BIGINT NOT NULL PRIMARY KEY, board_id BIGINT NOT NULL, writer_id BIGINT NOT NULL, \
     title VARCHAR(100) NOT NULL)",
    "CREATE TABLE small_block (board_id BIGINT NOT NULL, first_id BIGINT NOT NULL, articles BIGINT UNSIGNED NOT NULL, \
     PRIMARY KEY (board_id, first_id))",
    "CREATE TABLE large_block LIKE small_block",
    "CREATE TABLE board_count (board_id BIGINT NOT NULL PRIMARY KEY, articles BIGINT UNSIGNED NOT NULL)",
];

/// Makes so many articles of one board, with their blocks and their counter.
pub(super) async fn fill(conn: &mut Conn, count: u64) -> anyhow::Result<()> {
    for table in TABLES {
        conn.query_drop(table).await?;
    }
    // An empty table is loaded in bulk when nothing has to be checked row by row; and no replica wants these rows.
    for setting in ["sql_log_bin = 0", "unique_checks = 0", "foreign_key_checks = 0"] {
        conn.query_drop(format!("SET SESSION {setting}")).await?;
    }
    conn.query_drop(format!(
        "INSERT INTO article (article_id, board_id, writer_id, title) SELECT seq * {ID_STEP}, 1, seq % 9973, \
         CONCAT('Article ', seq, ' of a board') FROM seq_1_to_{count}"
    ))
    .await?;
    // The index is sorted once, instead of growing row by row.
    conn.query_drop("ALTER TABLE article ADD INDEX board_article (board_id, article_id)").await?;
    let (small, large) = (SMALL * ID_STEP, SMALL * ID_STEP * SMALL_PER_LARGE);
    conn.query_drop(format!(
        "INSERT INTO small_block (board_id, first_id, articles) SELECT 1, (article_id DIV {small}) * {small}, COUNT(*) \
         FROM article GROUP BY article_id DIV {small} ORDER BY NULL"
    ))
    .await?;
    conn.query_drop(format!(
        "INSERT INTO large_block (board_id, first_id, articles) SELECT 1, (first_id DIV {large}) * {large}, SUM(articles) \
         FROM small_block GROUP BY first_id DIV {large}"
    ))
    .await?;
    conn.query_drop("INSERT INTO board_count SELECT 1, SUM(articles) FROM large_block").await?;
    let counted: Option<u64> = conn.query_first("SELECT articles FROM board_count").await?;
    ensure!(counted == Some(count), "{counted:?} articles were made instead of {count}");
    Ok(())
}

/// Rows and entries of indexes that the server has read for this connection, by whatever way of access.
pub(super) async fn read(conn: &mut Conn) -> anyhow::Result<u64> {
    // This statement is not counted itself.
    let counters: Vec<(String, u64)> = conn.query("SHOW SESSION STATUS LIKE 'Handler_read_%'").await?;
    // A retry reads nothing new.
    Ok(counters.iter().filter(|(name, _)| name != "Handler_read_retry").map(|(_, count)| count).sum())
}

/// The ids of a page, newest first, of so many articles.
pub(super) fn expected(count: u64, skip: u64, page: u64) -> Vec<i64> {
    let newest = count.saturating_sub(skip);
    let numbers = (newest.saturating_sub(page) + 1..=newest).rev();
    numbers.map(|number| i64::try_from(number).unwrap_or(i64::MAX) * ID_STEP).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_before_it_is_read() {
        assert_eq!(expected(100, 0, 3), [1600, 1584, 1568]);
        assert_eq!(expected(100, 98, 3), [32, 16]);
        assert!(expected(100, 100, 3).is_empty());
    }
}
