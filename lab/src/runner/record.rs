//! Puts what the clients were told beside what the servers have, so that a person can compare the two by one query.

use anyhow::Context as _;
use mysql_async::prelude::Queryable as _;

use super::observe;
use crate::domain::Entry;

/// So many rows go into one statement.
const ROWS_AT_ONCE: usize = 500;

/// Writes the acknowledged entries into `<prefix>_history.acknowledged`, in place of what is there.
pub(super) async fn acknowledged(mysql: &str, prefix: &str, entries: &[Entry]) -> anyhow::Result<()> {
    let mut conn = observe::connect(mysql).await?;
    conn.query_drop(format!("CREATE DATABASE IF NOT EXISTS `{prefix}_history`")).await?;
    let table = format!("`{prefix}_history`.acknowledged");
    conn.query_drop(format!(
        "CREATE OR REPLACE TABLE {table} (
             tx_id      VARBINARY(64)     NOT NULL PRIMARY KEY,
             account_id SMALLINT UNSIGNED NOT NULL,
             amount     BIGINT            NOT NULL
         )"
    ))
    .await?;
    for slice in entries.chunks(ROWS_AT_ONCE) {
        let rows = vec!["(?, ?, ?)"; slice.len()].join(", ");
        let values: Vec<mysql_async::Value> = slice
            .iter()
            .flat_map(|entry| [entry.tx_id.as_str().into(), entry.account_id.number().into(), entry.amount.into()])
            .collect();
        let insert = format!("INSERT INTO {table} (tx_id, account_id, amount) VALUES {rows}");
        conn.exec_drop(insert, values).await.context("could not keep what the clients were told")?;
    }
    Ok(conn.disconnect().await?)
}
