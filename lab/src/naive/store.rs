//! The ledger as a plain program keeps it: one connection, one transaction, one command.

use anyhow::Context as _;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, Transaction};

use crate::domain::{Account, AccountId, Decision, Entry, Movement, Refusal, TxId, decide};

/// Connections of the pool.
pub const CONNECTIONS_MAX: usize = 8;

/// A pool of connections to a database.
pub fn pool(url: &str, database: &str) -> anyhow::Result<Pool> {
    let constraints = PoolConstraints::new(0, CONNECTIONS_MAX).context("a pool without connections")?;
    let opts = OptsBuilder::from_opts(Opts::from_url(url)?)
        .prefer_socket(false)
        .db_name(Some(database))
        .setup(vec!["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"])
        .pool_opts(PoolOpts::new().with_constraints(constraints));
    Ok(Pool::new(opts))
}

/// Enters a movement in a transaction, without committing it.
pub async fn enter(
    tx: &mut Transaction<'_>,
    movement: &Movement,
    now_ms: i64,
) -> anyhow::Result<Result<Decision, Refusal>> {
    let id = movement.account.number();
    let account: Option<(i64, u64)> =
        tx.exec_first("SELECT balance, version FROM account WHERE account_id = ? FOR UPDATE", (id,)).await?;
    let account = account.map(|(balance, version)| Account { id: movement.account, balance, version });
    let earlier: Option<(u16, i64, i64, u64)> = tx
        .exec_first(
            "SELECT account_id, amount, balance, version FROM ledger WHERE tx_id = ?",
            (movement.tx_id.as_str(),),
        )
        .await?;
    let earlier = match earlier {
        Some((id, amount, balance, version)) => {
            let account_id = AccountId::new(id).context("an account 0")?;
            Some(Entry { tx_id: movement.tx_id.clone(), account_id, amount, balance, version })
        }
        None => None,
    };
    let decided = decide(account.as_ref(), earlier.as_ref(), movement);
    if let Ok(Decision::Entered(Entry { tx_id, amount, balance, version, .. })) = &decided {
        write(tx, tx_id, id, *amount, *balance, *version, now_ms).await?;
    }
    Ok(decided)
}

async fn write(
    tx: &mut Transaction<'_>,
    tx_id: &TxId,
    id: u16,
    amount: i64,
    balance: i64,
    version: u64,
    now_ms: i64,
) -> anyhow::Result<()> {
    tx.exec_drop(
        "INSERT INTO ledger (tx_id, account_id, amount, balance, version, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        (tx_id.as_str(), id, amount, balance, version, now_ms),
    )
    .await?;
    tx.exec_drop(
        "UPDATE account SET balance = ?, version = ?, updated_at = ? WHERE account_id = ?",
        (balance, version, now_ms, id),
    )
    .await?;
    Ok(())
}
