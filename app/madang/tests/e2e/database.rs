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

/// Entries in the log.
pub(crate) fn log_entries(database: &Connection) -> i64 {
    database.query_row("SELECT count(*) FROM event_log", [], |row| row.get(0)).unwrap()
}
