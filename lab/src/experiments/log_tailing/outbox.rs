//! The outbox that is read in different ways, and the transactions that write it: some of them commit late, as transactions
//! do that have other work, so that ids and commits have different orders.

use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Transaction, TxOpts};
use rand::RngExt as _;
use rand::rngs::StdRng;

/// Accounts whose changes are told.
pub(super) const ACCOUNTS: u32 = 200;
/// Of so many transactions, one commits late.
const LATE_ONE_IN: u32 = 8;
/// How much later, at most, in milliseconds.
const LATE_MAX_MS: u64 = 150;

const TABLES: [&str; 3] = [
    "CREATE TABLE account (id INT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)",
    "CREATE TABLE outbox (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, account INT NOT NULL, version BIGINT NOT NULL, \
     sent TINYINT NOT NULL DEFAULT 0, written_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY unsent (sent, id))",
    "INSERT INTO account SELECT seq, 0 FROM seq_0_to_199",
];

/// A row of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) account: u32,
    /// Rises by one with each change of an account.
    pub(super) version: u64,
}

impl Event {
    /// As it is published, and as whoever committed it tells the runner: a line.
    pub(super) fn line(self) -> String {
        format!("{} {} {}", self.id, self.account, self.version)
    }

    /// The event of a line.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let event = Self {
            id: words.next()?.parse().ok()?,
            account: words.next()?.parse().ok()?,
            version: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(event)
    }
}

/// Makes the tables.
pub(super) async fn make(conn: &mut Conn) -> anyhow::Result<()> {
    for table in TABLES {
        conn.query_drop(table).await?;
    }
    Ok(())
}

/// Changes an account and tells of it, in one transaction.
pub(super) async fn write(conn: &mut Conn, chance: &mut StdRng) -> mysql_async::Result<Event> {
    let account = chance.random_range(0..ACCOUNTS);
    let mut tx = conn.start_transaction(TxOpts::default()).await?;
    let event = change(&mut tx, account).await?;
    if chance.random_range(0..LATE_ONE_IN) == 0 {
        tokio::time::sleep(Duration::from_millis(chance.random_range(1..=LATE_MAX_MS))).await;
    }
    tx.commit().await?;
    Ok(event)
}

/// Changes an account and tells of it, without committing.
pub(super) async fn change(tx: &mut Transaction<'_>, account: u32) -> mysql_async::Result<Event> {
    tx.exec_drop("UPDATE account SET version = version + 1 WHERE id = ?", (account,)).await?;
    let version: Option<u64> = tx.exec_first("SELECT version FROM account WHERE id = ?", (account,)).await?;
    let version = version.unwrap_or(0);
    tx.exec_drop("INSERT INTO outbox (account, version) VALUES (?, ?)", (account, version)).await?;
    Ok(Event { id: tx.last_insert_id().unwrap_or(0), account, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_published() {
        let event = Event { id: 7, account: 3, version: 12 };
        assert_eq!(Event::read(&event.line()), Some(event));
        for line in ["", "1 2", "1 2 3 4", "1 2 3 x", "1 x 3"] {
            assert_eq!(Event::read(line), None, "{line}");
        }
    }

    #[test]
    fn there_are_as_many_accounts_as_are_used() {
        assert!(TABLES[2].contains(&format!("seq_0_to_{}", ACCOUNTS - 1)));
    }
}
