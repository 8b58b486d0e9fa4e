//! Requests of others: deposits at the first bank, which have nothing to do with the transfer that is in doubt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::task::JoinSet;

use crate::durations::Durations;
use crate::scratch::Scratch;

/// How many go on at once.
const BYSTANDERS: u64 = 8;
/// Accounts they use; the one in doubt is among them.
pub(super) const BUSY_ACCOUNTS: u32 = 8;
/// Seconds that one waits for a lock before it gives up.
const LOCK_WAIT_S: u32 = 1;
/// A request that takes longer has been held up.
const PATIENCE: Duration = Duration::from_millis(500);
/// Between two requests of one, so that they do not load the machine.
const PAUSE: Duration = Duration::from_millis(5);

/// What they met.
#[derive(Debug, Clone, Default)]
pub(super) struct Met {
    pub(super) requests: u64,
    pub(super) refused: u64,
    pub(super) held_up: u64,
    pub(super) deposited: u64,
    pub(super) took: Durations,
    /// Of those that were refused or held up: when each began and ended.
    pub(super) harmed: Vec<(Instant, Instant)>,
}

impl Met {
    pub(super) fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.refused += other.refused;
        self.held_up += other.held_up;
        self.deposited += other.deposited;
        self.took.add(&other.took);
        self.harmed.extend(other.harmed);
    }

    pub(super) fn violations(&self) -> u64 {
        self.refused + self.held_up
    }
}

/// Bystanders at work.
pub(super) struct Bystanders {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<anyhow::Result<Met>>,
}

impl Bystanders {
    pub(super) async fn start(bank: &Scratch, seed: u64) -> anyhow::Result<Self> {
        let (stop, mut tasks) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        for number in 0..BYSTANDERS {
            let mut conn = bank.connect().await?;
            conn.query_drop(format!("SET SESSION innodb_lock_wait_timeout = {LOCK_WAIT_S}")).await?;
            let (stop, chance) = (Arc::clone(&stop), StdRng::seed_from_u64(seed ^ (number << 32)));
            tasks.spawn(go_on(conn, stop, chance));
        }
        Ok(Self { stop, tasks })
    }

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

async fn go_on(mut conn: Conn, stop: Arc<AtomicBool>, mut chance: StdRng) -> anyhow::Result<Met> {
    let mut met = Met::default();
    while !stop.load(Ordering::Relaxed) {
        let account = chance.random_range(0..BUSY_ACCOUNTS);
        let began = Instant::now();
        let deposit = conn.exec_drop("UPDATE account SET balance = balance + 1 WHERE id = ?", (account,)).await;
        let took = began.elapsed();
        met.requests += 1;
        met.took.note(took);
        match deposit {
            Ok(()) => {
                met.deposited += 1;
                met.held_up += u64::from(took > PATIENCE);
            }
            // Waited for a lock for too long.
            Err(mysql_async::Error::Server(error)) if error.code == 1205 => met.refused += 1,
            Err(error) => return Err(error.into()),
        }
        if took > PATIENCE {
            met.harmed.push((began, Instant::now()));
        }
        tokio::time::sleep(PAUSE).await;
    }
    conn.disconnect().await?;
    Ok(met)
}
