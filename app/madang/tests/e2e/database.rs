//! Looks into the database file of a site that nobody serves: what is there must not depend on what the server says.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// The file, for looking only.
pub(crate) fn open(data: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(data.join(madang_sqlite::DATABASE_FILE), flags).unwrap()
}

/// The ids of every article.
pub(crate) fn article_ids(database: &Connection) -> Vec<i64> {
    let mut rows = database.prepare("SELECT article_id FROM article ORDER BY article_id").unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// How many entries of the log report the creation of each article.
pub(crate) fn created_events(database: &Connection) -> HashMap<i64, u64> {
    let mut rows = database.prepare("SELECT key, payload FROM event_log").unwrap();
    let entries = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let mut created = HashMap::new();
    for entry in entries {
        let (key, payload) = entry.unwrap();
        let event: Value = serde_json::from_slice(&payload).unwrap();
        if event["type"] == "article.created" {
            *created.entry(key.parse().unwrap()).or_default() += 1;
        }
    }
    created
}

/// The count that each board claims, added up.
pub(crate) fn counted(database: &Connection) -> i64 {
    database.query_row("SELECT coalesce(sum(article_count), 0) FROM board_article_count", [], |row| row.get(0)).unwrap()
}

/// What a query of one number gives.
pub(crate) fn number(database: &Connection, sql: &str) -> i64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Tables with a row for each comment, like or counter of an article.
pub(crate) const PARTS: [&str; 5] =
    ["comment", "article_comment_count", "article_like", "article_like_count", "article_view_count"];
/// Tables in which a deleted article is marked for ever.
pub(crate) const MARKS: [&str; 3] = ["comment_article_gone", "like_article_gone", "view_article_gone"];

/// Rows of an article in each of the tables.
pub(crate) fn rows_of<const N: usize>(database: &Connection, tables: [&str; N], article: &str) -> [i64; N] {
    tables.map(|table| number(database, &format!("SELECT count(*) FROM {table} WHERE article_id = {article}")))
}

/// Entries in the log.
pub(crate) fn log_entries(database: &Connection) -> i64 {
    database.query_row("SELECT count(*) FROM event_log", [], |row| row.get(0)).unwrap()
}
