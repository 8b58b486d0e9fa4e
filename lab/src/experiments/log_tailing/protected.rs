//! Polling by state: whatever is committed and not sent is found, however late it came.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::kafka::Publisher;
use super::programs::{POLL, rows_of};

/// Polls for rows that are not sent; younger ones are left to whoever wrote them.
pub(super) async fn state(mut conn: Conn, publisher: &Publisher, min_age: Duration) -> anyhow::Result<()> {
    // So that marking rows locks these and no gap that others insert into.
    conn.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
    let age_us = u64::try_from(min_age.as_micros())?;
    loop {
        let unsent = "SELECT id, account, version FROM outbox FORCE INDEX (unsent) \
                      WHERE sent = 0 AND written_at <= NOW(3) - INTERVAL ? MICROSECOND ORDER BY id LIMIT 1000";
        let events = rows_of(conn.exec(unsent, (age_us,)).await?);
        publisher.publish(&events)?;
        if events.is_empty() {
            tokio::time::sleep(POLL).await;
            continue;
        }
        // Killed before this, it publishes them again; a consumer finds them processed.
        let placeholders = vec!["?"; events.len()].join(",");
        let ids: Vec<mysql_async::Value> = events.iter().map(|event| event.id.into()).collect();
        conn.exec_drop(format!("UPDATE outbox SET sent = 1 WHERE id IN ({placeholders})"), ids).await?;
    }
}
