//! The same counter, one transaction a call: every way here loses nothing, and each pays differently.

use std::time::Instant;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, TxOpts};

use super::Increment;

/// Lets the server add.
pub(super) async fn update_in_place(conn: &mut Conn) -> mysql_async::Result<Increment> {
    conn.query_drop("UPDATE counter SET value = value + 1 WHERE id = 1").await?;
    Ok(Increment::default())
}

/// Locks the row before it reads.
pub(super) async fn select_for_update(conn: &mut Conn) -> mysql_async::Result<Increment> {
    let mut tx = conn.start_transaction(TxOpts::default()).await?;
    let value: Option<i64> = tx.query_first("SELECT value FROM counter WHERE id = 1 FOR UPDATE").await?;
    tx.exec_drop("UPDATE counter SET value = ? WHERE id = 1", (value.unwrap_or(0) + 1,)).await?;
    tx.commit().await?;
    Ok(Increment::default())
}

/// Writes only what nobody changed meanwhile, and otherwise begins again, until it has no more time.
pub(super) async fn optimistic_retried(conn: &mut Conn, until: Instant) -> mysql_async::Result<Increment> {
    let mut increment = Increment::default();
    loop {
        let read: Option<(i64, i64)> = conn.query_first("SELECT value, version FROM counter WHERE id = 1").await?;
        let (value, version) = read.unwrap_or_default();
        let update = "UPDATE counter SET value = ?, version = version + 1 WHERE id = 1 AND version = ?";
        conn.exec_drop(update, (value + 1, version)).await?;
        if conn.affected_rows() == 1 {
            return Ok(increment);
        }
        increment.retries += 1;
        if Instant::now() > until {
            return Ok(increment.given_up());
        }
    }
}

/// Reads under a shared lock, which two can have until both want to write: one of them is a deadlock's victim and begins
/// again, until it has no more time.
pub(super) async fn share_then_update(conn: &mut Conn, until: Instant) -> mysql_async::Result<Increment> {
    let mut increment = Increment::default();
    loop {
        match share_then_update_once(conn).await {
            Ok(()) => return Ok(increment),
            Err(Error::Server(error)) if error.code == 1213 => increment.deadlocks += 1,
            Err(Error::Server(error)) if error.code == 1205 => increment.retries += 1,
            Err(error) => return Err(error),
        }
        if Instant::now() > until {
            return Ok(increment.given_up());
        }
    }
}

async fn share_then_update_once(conn: &mut Conn) -> mysql_async::Result<()> {
    let mut tx = conn.start_transaction(TxOpts::default()).await?;
    let value: Option<i64> = tx.query_first("SELECT value FROM counter WHERE id = 1 LOCK IN SHARE MODE").await?;
    tx.exec_drop("UPDATE counter SET value = ? WHERE id = 1", (value.unwrap_or(0) + 1,)).await?;
    tx.commit().await
}
