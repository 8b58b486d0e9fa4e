//! A database of one experiment on one server, made empty and dropped at the end.

use anyhow::Context as _;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts};

/// A database for one experiment alone.
#[derive(Debug, Clone)]
pub struct Scratch {
    server: String,
    name: String,
}

impl Scratch {
    /// Makes it, empty; `server` is a URL without a database. What an earlier run left under the name is dropped.
    pub async fn make(server: &str, name: &str) -> anyhow::Result<Self> {
        let scratch = Self { server: server.to_owned(), name: name.to_owned() };
        let mut conn = connect(server).await?;
        conn.query_drop(format!("DROP DATABASE IF EXISTS `{name}`")).await?;
        conn.query_drop(format!("CREATE DATABASE `{name}` DEFAULT CHARSET utf8mb4")).await?;
        conn.disconnect().await?;
        Ok(scratch)
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/{}", self.server, self.name)
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection to it.
    pub async fn connect(&self) -> anyhow::Result<Conn> {
        connect(&self.url()).await
    }

    /// So many connections to it.
    pub async fn connect_many(&self, count: usize) -> anyhow::Result<Vec<Conn>> {
        let mut conns = Vec::with_capacity(count);
        for _ in 0..count {
            conns.push(self.connect().await?);
        }
        Ok(conns)
    }

    /// Drops it.
    pub async fn drop(self) -> anyhow::Result<()> {
        let mut conn = connect(&self.server).await?;
        conn.query_drop(format!("DROP DATABASE IF EXISTS `{}`", self.name)).await?;
        Ok(conn.disconnect().await?)
    }
}

/// A connection by URL; an error names no password.
pub async fn connect(url: &str) -> anyhow::Result<Conn> {
    let opts = Opts::from_url(url).context("the URL of a database server cannot be read")?;
    let at = format!("{}:{}", opts.ip_or_hostname(), opts.tcp_port());
    Conn::new(opts).await.with_context(|| format!("no connection to the database server at {at}"))
}
