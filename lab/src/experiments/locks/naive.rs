//! A counter as it is counted without a thought of others: what was read is written back with one more.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::Attempt;

/// Reads, adds, writes.
pub(super) async fn read_add_write(conn: &mut Conn) -> mysql_async::Result<Attempt> {
    let value: Option<i64> = conn.query_first("SELECT value FROM counter WHERE id = 1").await?;
    conn.exec_drop("UPDATE counter SET value = ? WHERE id = 1", (value.unwrap_or(0) + 1,)).await?;
    Ok(Attempt::Done)
}

/// Writes only what nobody changed meanwhile, and does not ask whether it did.
pub(super) async fn optimistic_once(conn: &mut Conn) -> mysql_async::Result<Attempt> {
    super::protected::optimistic(conn).await?;
    Ok(Attempt::Done)
}
