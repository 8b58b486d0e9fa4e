//! A user for readers alone, so that the database can tell what they cost it.

use anyhow::Context as _;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts};

/// A user of the database.
pub(super) struct User {
    name: &'static str,
}

/// Who reads.
pub(super) const READER: User = User { name: "lab_reader" };

impl User {
    /// Makes the user with the password of `server`'s own, and has the database count what each user does.
    pub(super) async fn make(&self, server: &str) -> anyhow::Result<()> {
        let mut conn = crate::scratch::connect(server).await?;
        let opts = Opts::from_url(server)?;
        let user = format!("'{}'@'127.0.0.1'", self.name);
        conn.query_drop("SET SESSION sql_log_bin = 0").await?;
        conn.query_drop(format!("DROP USER IF EXISTS {user}")).await?;
        let make = format!("CREATE USER {user} IDENTIFIED BY '{}'", opts.pass().unwrap_or_default());
        conn.query_drop(make).await?;
        conn.query_drop(format!("GRANT ALL PRIVILEGES ON *.* TO {user}")).await?;
        conn.query_drop("SET GLOBAL userstat = ON").await?;
        Ok(conn.disconnect().await?)
    }

    /// Removes the user.
    pub(super) async fn drop(&self, server: &str) -> anyhow::Result<()> {
        let mut conn = crate::scratch::connect(server).await?;
        conn.query_drop("SET GLOBAL userstat = OFF").await?;
        conn.query_drop("SET SESSION sql_log_bin = 0").await?;
        conn.query_drop(format!("DROP USER IF EXISTS '{}'@'127.0.0.1'", self.name)).await?;
        Ok(conn.disconnect().await?)
    }

    /// The URL of a server for this user.
    pub(super) fn url(&self, server: &str) -> anyhow::Result<String> {
        let rest = server.strip_prefix("mysql://root:").context("a URL of the stack's own user")?;
        Ok(format!("mysql://{}:{rest}", self.name))
    }

    /// Statements that the user sent, and rows that were read for it, since the last `FLUSH USER_STATISTICS`.
    pub(super) async fn load(&self, conn: &mut Conn) -> anyhow::Result<[f64; 2]> {
        let load = "SELECT CAST(select_commands + update_commands + other_commands AS DOUBLE), CAST(rows_read AS DOUBLE) \
                    FROM information_schema.user_statistics WHERE user = ?";
        let found: Option<(f64, f64)> = conn.exec_first(load, (self.name,)).await?;
        let (statements, rows_read) = found.unwrap_or_default();
        Ok([statements, rows_read])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_comes_under_a_name_of_its_own() {
        assert_eq!(READER.url("mysql://root:s@127.0.0.1:1").unwrap(), "mysql://lab_reader:s@127.0.0.1:1");
        assert!(READER.url("mysql://other:s@127.0.0.1:1").is_err());
    }
}
