//! Looks at everything, past the programs: the tables themselves, and Redis itself.

use std::collections::BTreeSet;

use anyhow::Context as _;
use madang_engine_redis::{Redis, RedisOptions};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder};

use crate::checker::{InCache, Observed, Projected};
use crate::domain::{Account, AccountId, Entry, TxId};
use crate::programs::cache::BalanceCache;

/// A connection to a server, as a person would have one.
pub async fn connect(url: &str) -> anyhow::Result<Conn> {
    let opts = OptsBuilder::from_opts(Opts::from_url(url)?).prefer_socket(false);
    Conn::new(opts).await.context("could not connect to the database")
}

/// A number.
pub async fn number(conn: &mut Conn, sql: &str) -> anyhow::Result<u64> {
    let found: Option<Option<u64>> = conn.query_first(sql).await.with_context(|| sql.to_owned())?;
    Ok(found.flatten().unwrap_or(0))
}

/// Accounts and ledger of `<prefix>_accounts`.
pub async fn accounts(conn: &mut Conn, prefix: &str) -> anyhow::Result<(Vec<Account>, Vec<Entry>)> {
    let rows: Vec<(u16, i64, u64)> =
        conn.query(format!("SELECT account_id, balance, version FROM `{prefix}_accounts`.account")).await?;
    let accounts = rows.into_iter().map(|(id, balance, version)| Ok(Account { id: account(id)?, balance, version }));
    let accounts = accounts.collect::<anyhow::Result<_>>()?;
    let rows: Vec<(String, u16, i64, i64, u64)> = conn
        .query(format!("SELECT tx_id, account_id, amount, balance, version FROM `{prefix}_accounts`.ledger"))
        .await?;
    let entries = rows.into_iter().map(|(tx_id, id, amount, balance, version)| {
        Ok(Entry { tx_id: TxId::new(tx_id)?, account_id: account(id)?, amount, balance, version })
    });
    Ok((accounts, entries.collect::<anyhow::Result<_>>()?))
}

/// The projection of `<prefix>_projection`.
pub async fn projection(conn: &mut Conn, prefix: &str) -> anyhow::Result<Vec<Projected>> {
    let rows: Vec<(u16, i64, u64, u64, i64, u64, u64)> = conn
        .query(format!(
            "SELECT account_id, balance, version, entries, entries_sum, late, went_back \
             FROM `{prefix}_projection`.account_projection"
        ))
        .await?;
    let row = |(id, balance, version, entries, entries_sum, late, went_back)| {
        Ok(Projected { account: account(id)?, balance, version, entries, entries_sum, late, went_back })
    };
    rows.into_iter().map(row).collect()
}

/// The names that a group has processed.
pub async fn processed(conn: &mut Conn, prefix: &str, group: &str) -> anyhow::Result<BTreeSet<TxId>> {
    let sql = format!(
        "SELECT dedup_key FROM `{prefix}_projection`.processed_event WHERE consumer_group = ? AND dedup_key IS NOT NULL"
    );
    let names: Vec<String> = conn.exec(sql, (group,)).await?;
    names.into_iter().map(|name| Ok(TxId::new(name)?)).collect()
}

/// What the cache shows of these accounts.
pub async fn cache(redis: &str, prefix: &str, accounts: &[Account]) -> anyhow::Result<Vec<InCache>> {
    let cache = BalanceCache::new(Redis::connect(&RedisOptions::single(prefix, redis)).await?);
    let mut found = Vec::new();
    for account in accounts {
        if let Some(cached) = cache.get(account.id).await? {
            let shown = cached.shown;
            found.push(InCache { account: account.id, balance: shown.balance, version: shown.version });
        }
    }
    Ok(found)
}

/// Everything of a protected system with one group.
pub async fn all(mysql: &str, prefix: &str, projected: &str, group: Option<&str>) -> anyhow::Result<Observed> {
    let mut conn = connect(mysql).await?;
    let (accounts, ledger) = accounts(&mut conn, prefix).await?;
    let projection = projection(&mut conn, projected).await?;
    let processed = match group {
        Some(group) => Some(processed(&mut conn, projected, group).await?),
        None => None,
    };
    conn.disconnect().await?;
    Ok(Observed { ledger, accounts, projection, processed, ..Observed::default() })
}

fn account(number: u16) -> anyhow::Result<AccountId> {
    AccountId::new(number).context("an account 0")
}
