//! The same transfer by an outbox: one transaction on one server, and a relay that carries the rest to the other, once.

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, TxOpts};

use super::bank::Conns;

/// Rows that the relay carries at a time.
const BATCH: usize = 500;

/// Takes one from an account of the first bank, and notes in the same transaction what the second is owed.
pub(super) async fn transfer(first: &mut Conn, name: &str, account: u32) -> anyhow::Result<()> {
    let mut tx = first.start_transaction(TxOpts::default()).await?;
    tx.exec_drop("UPDATE account SET balance = balance - 1 WHERE id = ?", (account,)).await?;
    let note = "INSERT INTO outbox (transfer, account, amount) VALUES (?, ?, 1)";
    tx.exec_drop(note, (name, account)).await?;
    Ok(tx.commit().await?)
}

/// Where a relay can be made to stand still, to be killed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The second bank has been sent everything, and has committed nothing.
    BeforeCommit,
    /// The second bank has committed, and the rows are still in the outbox.
    BeforeDelete,
}

/// Carries what waits to the second bank; returns how much there was. Killed anywhere, it only repeats what the second bank
/// then finds processed.
pub(super) async fn relay(conns: &mut Conns) -> anyhow::Result<usize> {
    relay_with(conns, async |_| ()).await
}

/// The same, calling `at` at each step.
pub(super) async fn relay_with(conns: &mut Conns, at: impl AsyncFn(Step)) -> anyhow::Result<usize> {
    let waiting = "SELECT id, transfer, account, amount FROM outbox ORDER BY id LIMIT ?";
    let rows: Vec<(i64, String, u32, i64)> = conns.first.exec(waiting, (BATCH,)).await?;
    if rows.is_empty() {
        return Ok(0);
    }
    let mut tx = conns.second.start_transaction(TxOpts::default()).await?;
    for (_, transfer, account, amount) in &rows {
        tx.exec_drop("INSERT IGNORE INTO processed (transfer) VALUES (?)", (transfer,)).await?;
        if tx.affected_rows() == 1 {
            tx.exec_drop("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, account)).await?;
        }
    }
    at(Step::BeforeCommit).await;
    tx.commit().await?;
    at(Step::BeforeDelete).await;
    // By name and not by a range: a row with a smaller id may have committed meanwhile.
    let placeholders = vec!["?"; rows.len()].join(",");
    let ids: Vec<mysql_async::Value> = rows.iter().map(|(id, ..)| (*id).into()).collect();
    conns.first.exec_drop(format!("DELETE FROM outbox WHERE id IN ({placeholders})"), ids).await?;
    Ok(rows.len())
}
