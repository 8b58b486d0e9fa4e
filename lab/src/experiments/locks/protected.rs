//! The same counter, one transaction a call: every way here loses nothing, and each pays differently.

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Transaction, TxOpts};

use super::Attempt;

/// Lets the server add.
pub(super) async fn update_in_place(conn: &mut Conn) -> mysql_async::Result<Attempt> {
    conn.query_drop("UPDATE counter SET value = value + 1 WHERE id = 1").await?;
    Ok(Attempt::Done)
}

/// Locks the row before it reads.
pub(super) async fn select_for_update(conn: &mut Conn) -> mysql_async::Result<Attempt> {
    let mut tx = conn.start_transaction(TxOpts::default()).await?;
    let added = add(&mut tx, "SELECT value FROM counter WHERE id = 1 FOR UPDATE").await;
    ended(tx, added).await
}

/// Writes only what nobody changed meanwhile.
pub(super) async fn optimistic(conn: &mut Conn) -> mysql_async::Result<Attempt> {
    let read: Option<(i64, i64)> = conn.query_first("SELECT value, version FROM counter WHERE id = 1").await?;
    let (value, version) = read.unwrap_or_default();
    let update = "UPDATE counter SET value = ?, version = version + 1 WHERE id = 1 AND version = ?";
    conn.exec_drop(update, (value + 1, version)).await?;
    Ok(if conn.affected_rows() == 1 { Attempt::Done } else { Attempt::Overtaken })
}

/// Reads under a shared lock, which two can have until both want to write: one of them is a deadlock's victim.
pub(super) async fn share_then_update(conn: &mut Conn) -> mysql_async::Result<Attempt> {
    let mut tx = conn.start_transaction(TxOpts::default()).await?;
    let added = add(&mut tx, "SELECT value FROM counter WHERE id = 1 LOCK IN SHARE MODE").await;
    ended(tx, added).await
}

async fn add(tx: &mut Transaction<'_>, read: &str) -> mysql_async::Result<()> {
    let value: Option<i64> = tx.query_first(read).await?;
    tx.exec_drop("UPDATE counter SET value = ? WHERE id = 1", (value.unwrap_or(0) + 1,)).await
}

/// Commits, or rolls back at once: after a lock that was waited for in vain InnoDB undoes the statement alone, and the others
/// would wait for the locks of the rest.
async fn ended(tx: Transaction<'_>, added: mysql_async::Result<()>) -> mysql_async::Result<Attempt> {
    match added {
        Ok(()) => tx.commit().await.map(|()| Attempt::Done),
        Err(error) => {
            tx.rollback().await?;
            Err(error)
        }
    }
}
