//! Two banks on two servers: every transfer takes from an account of the first and gives to the same account of the second.

use anyhow::ensure;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use crate::scratch::Scratch;

/// Accounts of each bank.
pub(super) const ACCOUNTS: u32 = 64;
/// What each holds at first.
const BALANCE: i64 = 1_000_000;

/// Both banks.
#[derive(Clone)]
pub(super) struct Banks {
    pub(super) first: Scratch,
    pub(super) second: Scratch,
}

/// A connection to each.
pub(super) struct Conns {
    pub(super) first: Conn,
    pub(super) second: Conn,
}

impl Banks {
    /// Makes them anew.
    pub(super) async fn make(first: &str, second: &str) -> anyhow::Result<Self> {
        let banks = Self {
            first: Scratch::make(first, "lab_two_phase").await?,
            second: Scratch::make(second, "lab_two_phase").await?,
        };
        let mut conns = banks.connect().await?;
        for conn in [&mut conns.first, &mut conns.second] {
            conn.query_drop("CREATE TABLE account (id INT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL)").await?;
            let rows = format!("INSERT INTO account SELECT seq, {BALANCE} FROM seq_0_to_{}", ACCOUNTS - 1);
            conn.query_drop(rows).await?;
        }
        let outbox = "CREATE TABLE outbox (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, transfer VARCHAR(64) NOT NULL, \
                      account INT NOT NULL, amount BIGINT NOT NULL)";
        conns.first.query_drop(outbox).await?;
        conns.second.query_drop("CREATE TABLE processed (transfer VARCHAR(64) NOT NULL PRIMARY KEY)").await?;
        conns.close().await?;
        Ok(banks)
    }

    /// A connection to each.
    pub(super) async fn connect(&self) -> anyhow::Result<Conns> {
        Ok(Conns { first: self.first.connect().await?, second: self.second.connect().await? })
    }

    /// Whether the banks together hold what they held at first and what was put in, and nothing waits to be sent.
    pub(super) async fn check(&self, put_in: u64) -> anyhow::Result<bool> {
        let mut conns = self.connect().await?;
        let sum = "SELECT CAST(SUM(balance) AS SIGNED) FROM account";
        let first: i64 = conns.first.query_first(sum).await?.unwrap_or(0);
        let second: i64 = conns.second.query_first(sum).await?.unwrap_or(0);
        let unsent: u64 = conns.first.query_first("SELECT COUNT(*) FROM outbox").await?.unwrap_or(0);
        conns.close().await?;
        Ok(unsent == 0 && first + second == i64::from(ACCOUNTS) * BALANCE * 2 + i64::try_from(put_in)?)
    }

    /// Drops them.
    pub(super) async fn drop(self) -> anyhow::Result<()> {
        self.first.drop().await?;
        self.second.drop().await
    }
}

impl Conns {
    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.first.disconnect().await?;
        Ok(self.second.disconnect().await?)
    }
}

/// The name of a transfer, which goes into statements that take no parameters.
pub(super) fn checked(name: &str) -> anyhow::Result<&str> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    ensure!(is_plain && name.len() <= 64, "{name:?} cannot be the name of a transfer");
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_get_into_a_statement() {
        assert!(checked("lab-12-ab").is_ok());
        for name in ["a'b", "a b", &"x".repeat(65)] {
            assert!(checked(name).is_err(), "{name}");
        }
    }
}
