//! A counter as it is counted without a thought of others: what was read is written back with one more.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::Increment;

/// Reads, adds, writes.
pub(super) async fn read_add_write(conn: &mut Conn) -> mysql_async::Result<Increment> {
    let value: Option<i64> = conn.query_first("SELECT value FROM counter WHERE id = 1").await?;
    conn.exec_drop("UPDATE counter SET value = ? WHERE id = 1", (value.unwrap_or(0) + 1,)).await?;
    Ok(Increment::default())
}

/// Writes only what nobody changed meanwhile, and does not ask whether it did.
pub(super) async fn optimistic_once(conn: &mut Conn) -> mysql_async::Result<Increment> {
    let read: Option<(i64, i64)> = conn.query_first("SELECT value, version FROM counter WHERE id = 1").await?;
    let (value, version) = read.unwrap_or_default();
    let update = "UPDATE counter SET value = ?, version = version + 1 WHERE id = 1 AND version = ?";
    conn.exec_drop(update, (value + 1, version)).await?;
    Ok(Increment::default())
}
