//! MariaDB's half of a round: rows are committed on a primary, the primary is killed, and its replica takes over.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Row};
use tokio::task::JoinSet;

use super::link::Link;
use crate::Stack;
use crate::durations::Durations;
use crate::scratch::{Scratch, connect};

/// Callers that commit.
const CALLERS: usize = 4;
/// How far primary and replica are apart, one way.
const DELAY: Duration = Duration::from_millis(20);
/// How long anything between the two may take.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Commits that an asynchronous primary answers while nothing gets to its replica: what is lost with it.
const ALONE: u64 = 20;
/// How long a semi-synchronous one has for the same; it answers none.
const ALONE_FOR: Duration = Duration::from_millis(500);
/// What the database is called.
const NAME: &str = "lab_replicas";

/// How rows get to the replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replication {
    Asynchronous,
    SemiSynchronous,
}

/// A primary with its replica, and the way between.
pub(super) struct Pair<'a> {
    stack: &'a Stack,
    number: u8,
    replication: Replication,
    link: Option<Link>,
}

/// What callers were told, and what the replica had when it took over.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub(super) committed: u64,
    pub(super) lost: u64,
    pub(super) took: Durations,
}

impl<'a> Pair<'a> {
    pub(super) fn new(stack: &'a Stack, number: u8, replication: Replication) -> Self {
        Self { stack, number, replication, link: None }
    }

    fn primary_name(&self) -> String {
        format!("mariadb-{}", self.number)
    }

    /// Puts the way between the two in place, and waits until the replica has all that the primary has.
    pub(super) async fn join(&mut self) -> anyhow::Result<()> {
        let port = self.stack.port(&self.primary_name())?;
        let link = Link::to(port, DELAY).await?;
        self.follow(link.port).await?;
        self.link = Some(link);
        let mut primary = connect(&self.stack.mysql(self.number)?).await?;
        match self.replication {
            Replication::Asynchronous => super::naive::replication(&mut primary).await?,
            Replication::SemiSynchronous => super::protected::replication(&mut primary).await?,
        }
        self.wait_until_caught_up(&mut primary).await?;
        Ok(primary.disconnect().await?)
    }

    /// Puts the replica back to following its primary directly, as the stack set it up.
    pub(super) async fn part(&mut self) -> anyhow::Result<()> {
        self.follow(self.stack.port(&self.primary_name())?).await?;
        self.link = None;
        let mut primary = connect(&self.stack.mysql(self.number)?).await?;
        super::protected::replication(&mut primary).await?;
        primary.query_drop(format!("DROP DATABASE IF EXISTS {NAME}")).await?;
        self.wait_until_caught_up(&mut primary).await?;
        Ok(primary.disconnect().await?)
    }

    async fn follow(&self, port: u16) -> anyhow::Result<()> {
        let mut replica = connect(&self.stack.mysql_replica(self.number)?).await?;
        replica.query_drop("STOP SLAVE").await?;
        replica.query_drop(format!("CHANGE MASTER TO MASTER_PORT = {port}, MASTER_USE_GTID = slave_pos")).await?;
        replica.query_drop("START SLAVE").await?;
        Ok(replica.disconnect().await?)
    }

    async fn wait_until_caught_up(&self, primary: &mut Conn) -> anyhow::Result<()> {
        let mut replica = connect(&self.stack.mysql_replica(self.number)?).await?;
        let until = Instant::now() + WAIT_MAX;
        loop {
            let written: Option<String> = primary.query_first("SELECT @@gtid_binlog_pos").await?;
            let applied: Option<String> = replica.query_first("SELECT @@gtid_slave_pos").await?;
            let semi: Option<(String, String)> =
                primary.query_first("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'").await?;
            let has_replica =
                self.replication == Replication::Asynchronous || semi.is_some_and(|(_, count)| count != "0");
            if written == applied && has_replica && is_running(&mut replica).await? {
                return Ok(replica.disconnect().await?);
            }
            ensure!(
                Instant::now() < until,
                "the replica of {} did not catch up: {written:?} written, {applied:?} applied, {:?}",
                self.primary_name(),
                slave_error(&mut replica).await?
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Commits rows for so long, kills the primary, and compares what callers were told with what the replica has.
    pub(super) async fn fail_over(&mut self, length: Duration) -> anyhow::Result<Kept> {
        let scratch = Scratch::make(&self.stack.mysql(self.number)?, NAME).await?;
        let mut conns = scratch.connect_many(CALLERS).await?;
        conns[0].query_drop("CREATE TABLE entry (id BIGINT NOT NULL PRIMARY KEY)").await?;
        let progress = Arc::new(Progress::default());
        let mut callers = JoinSet::new();
        for conn in conns {
            callers.spawn(commit_until_killed(conn, Arc::clone(&progress)));
        }
        // Not for a result: so long the primary lives.
        tokio::time::sleep(length).await;
        self.stall(&progress).await?;
        self.stack.kill(&self.primary_name())?;
        // What is under way is lost with it.
        self.link = None;
        let mut told = BTreeSet::new();
        let mut kept = Kept::default();
        while let Some(caller) = callers.join_next().await {
            let (committed, took) = caller?;
            told.extend(committed);
            kept.took.add(&took);
        }
        let there = self.take_over().await?;
        kept.committed = told.len() as u64;
        kept.lost = told.difference(&there).count() as u64;
        Ok(kept)
    }

    /// Keeps the replica from everything, for as long as it takes an asynchronous primary to answer some more commits.
    async fn stall(&self, progress: &Progress) -> anyhow::Result<()> {
        self.link.as_ref().context("primary and replica are not joined")?.stall();
        let (told, until) = (progress.told.load(Ordering::Relaxed), Instant::now() + WAIT_MAX);
        if self.replication == Replication::SemiSynchronous {
            tokio::time::sleep(ALONE_FOR).await;
            return Ok(());
        }
        while progress.told.load(Ordering::Relaxed) < told + ALONE {
            ensure!(Instant::now() < until, "{} answered no commits", self.primary_name());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// The rows of the replica, once it has applied all that it received.
    async fn take_over(&self) -> anyhow::Result<BTreeSet<u64>> {
        let mut replica = connect(&self.stack.mysql_replica(self.number)?).await?;
        replica.query_drop("STOP SLAVE IO_THREAD").await?;
        let until = Instant::now() + WAIT_MAX;
        while !has_applied_all(&mut replica).await? {
            ensure!(Instant::now() < until, "the replica never applied what it has received");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let rows: Vec<u64> = replica.query(format!("SELECT id FROM {NAME}.entry")).await?;
        replica.disconnect().await?;
        Ok(rows.into_iter().collect())
    }
}

/// How far the callers are.
#[derive(Default)]
struct Progress {
    /// The number of the next row.
    next: AtomicU64,
    /// Commits that were answered.
    told: AtomicU64,
}

/// Commits one row after another; what it was told is committed, and how long that took.
async fn commit_until_killed(mut conn: Conn, progress: Arc<Progress>) -> (Vec<u64>, Durations) {
    let (mut committed, mut took) = (Vec::new(), Durations::default());
    loop {
        let id = progress.next.fetch_add(1, Ordering::Relaxed);
        let began = Instant::now();
        if conn.exec_drop("INSERT INTO entry (id) VALUES (?)", (id,)).await.is_err() {
            return (committed, took);
        }
        took.note(began.elapsed());
        committed.push(id);
        progress.told.fetch_add(1, Ordering::Relaxed);
    }
}

async fn status(replica: &mut Conn) -> anyhow::Result<Row> {
    replica.query_first("SHOW SLAVE STATUS").await?.context("a replica that follows nobody")
}

fn column(row: &Row, name: &str) -> String {
    row.get_opt::<Option<String>, _>(name).and_then(Result::ok).flatten().unwrap_or_default()
}

async fn is_running(replica: &mut Conn) -> anyhow::Result<bool> {
    let row = status(replica).await?;
    Ok(column(&row, "Slave_IO_Running") == "Yes" && column(&row, "Slave_SQL_Running") == "Yes")
}

async fn has_applied_all(replica: &mut Conn) -> anyhow::Result<bool> {
    let row = status(replica).await?;
    Ok(column(&row, "Slave_SQL_Running_State").starts_with("Slave has read all relay log"))
}

async fn slave_error(replica: &mut Conn) -> anyhow::Result<String> {
    let row = status(replica).await?;
    Ok(format!("{} {}", column(&row, "Last_IO_Error"), column(&row, "Last_SQL_Error")))
}
