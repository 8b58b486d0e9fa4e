//! Requests of others, at both banks, which have nothing to do with the transfer that is in doubt. Each has an account of its own:
//! it waits for a lock only if whoever joins two banks holds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use tokio::task::JoinSet;

use super::bank::Banks;
use crate::durations::Durations;

/// Accounts they use, at each bank; those in doubt are among them.
pub(super) const BUSY_ACCOUNTS: u32 = 8;
/// Seconds that one waits for a lock before it gives up.
const LOCK_WAIT_S: u32 = 1;
/// Between two requests of one, so that they do not load the machine.
const PAUSE: Duration = Duration::from_millis(5);

/// What they met.
#[derive(Debug, Clone, Default)]
pub(super) struct Met {
    pub(super) requests: u64,
    /// Those that waited for a lock until the server refused them.
    pub(super) refused: u64,
    pub(super) deposited: u64,
    pub(super) took: Durations,
    /// Of those that were refused: when each began and ended.
    pub(super) harmed: Vec<(Instant, Instant)>,
}

impl Met {
    pub(super) fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.refused += other.refused;
        self.deposited += other.deposited;
        self.took.add(&other.took);
        self.harmed.extend(other.harmed);
    }
}

/// Bystanders, connected and not yet at work: what they meet is to be the work of the dead, and not of who still stands there.
pub(super) struct Waiting(Vec<(Conn, u32)>);

impl Waiting {
    /// One for each busy account of each bank.
    pub(super) async fn connect(banks: &Banks) -> anyhow::Result<Self> {
        let mut conns = Vec::new();
        for bank in [&banks.first, &banks.second] {
            for account in 0..BUSY_ACCOUNTS {
                let mut conn = bank.connect().await?;
                conn.query_drop(format!("SET SESSION innodb_lock_wait_timeout = {LOCK_WAIT_S}")).await?;
                conns.push((conn, account));
            }
        }
        Ok(Self(conns))
    }

    /// Begins the work.
    pub(super) fn begin(self) -> Bystanders {
        let (stop, mut tasks) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        for (conn, account) in self.0 {
            tasks.spawn(go_on(conn, Arc::clone(&stop), account));
        }
        Bystanders { stop, tasks }
    }
}

/// Bystanders at work.
pub(super) struct Bystanders {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<anyhow::Result<Met>>,
}

impl Bystanders {
    /// Lets each finish what it began, and tells what they met.
    pub(super) async fn end(mut self) -> anyhow::Result<Met> {
        self.stop.store(true, Ordering::Relaxed);
        let mut sum = Met::default();
        while let Some(met) = self.tasks.join_next().await {
            sum.add(met??);
        }
        Ok(sum)
    }
}

async fn go_on(mut conn: Conn, stop: Arc<AtomicBool>, account: u32) -> anyhow::Result<Met> {
    let mut met = Met::default();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        let deposit = conn.exec_drop("UPDATE account SET balance = balance + 1 WHERE id = ?", (account,)).await;
        met.requests += 1;
        met.took.note(began.elapsed());
        match deposit {
            Ok(()) => met.deposited += 1,
            // Waited for a lock that nobody gave back.
            Err(mysql_async::Error::Server(error)) if error.code == 1205 => {
                met.refused += 1;
                met.harmed.push((began, Instant::now()));
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
    conn.disconnect().await?;
    Ok(met)
}
