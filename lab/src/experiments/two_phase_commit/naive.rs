//! Two-phase commit by XA: both servers promise, then both commit. Between the two the coordinator alone knows.

use anyhow::Context as _;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::bank::{Conns, checked};

/// Starts the names of our transactions, so that recovery touches no other's.
pub(super) const PREFIX: &str = "lab-";

/// Moves one from an account of the first bank to that of the second.
pub(super) async fn transfer(conns: &mut Conns, name: &str, account: u32) -> anyhow::Result<()> {
    prepare(conns, name, account).await?;
    commit(conns, name).await
}

/// The first phase: after it, neither server can go back on its word.
pub(super) async fn prepare(conns: &mut Conns, name: &str, account: u32) -> anyhow::Result<()> {
    let name = checked(name)?;
    for (conn, amount) in [(&mut conns.first, -1), (&mut conns.second, 1)] {
        conn.query_drop(format!("XA START '{name}'")).await?;
        conn.exec_drop("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, account)).await?;
        conn.query_drop(format!("XA END '{name}'")).await?;
    }
    for conn in [&mut conns.first, &mut conns.second] {
        conn.query_drop(format!("XA PREPARE '{name}'")).await?;
    }
    Ok(())
}

/// The second phase.
pub(super) async fn commit(conns: &mut Conns, name: &str) -> anyhow::Result<()> {
    let name = checked(name)?;
    for conn in [&mut conns.first, &mut conns.second] {
        conn.query_drop(format!("XA COMMIT '{name}'")).await?;
    }
    Ok(())
}

/// The transactions of ours that a server has promised and nobody has ended.
pub(super) async fn in_doubt(conn: &mut Conn) -> anyhow::Result<Vec<String>> {
    let rows: Vec<(i64, i64, i64, String)> = conn.query("XA RECOVER").await?;
    Ok(rows.into_iter().map(|(.., name)| name).filter(|name| name.starts_with(PREFIX)).collect())
}

/// What whoever recovers decides: a transaction that both servers promised is committed, one that a single server promised is
/// rolled back. Returns how many were ended.
pub(super) async fn recover(conns: &mut Conns) -> anyhow::Result<usize> {
    let (first, second) = (in_doubt(&mut conns.first).await?, in_doubt(&mut conns.second).await?);
    for (conn, here, there) in [(&mut conns.first, &first, &second), (&mut conns.second, &second, &first)] {
        for name in here {
            let verb = if there.contains(name) { "COMMIT" } else { "ROLLBACK" };
            conn.query_drop(format!("XA {verb} '{}'", checked(name)?)).await.context("recovery failed")?;
        }
    }
    Ok(first.len().max(second.len()))
}
