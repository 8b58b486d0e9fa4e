//! Transfers as fast as they go, by both ways in one run: how many come through, and how long a caller waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::bank::{ACCOUNTS, Banks};
use super::{Way, naive, protected};
use crate::durations::{Durations, per_second};

/// Callers at once.
const CALLERS: u32 = 16;
/// Between two looks of a relay that found nothing.
const RELAY_PAUSE: Duration = Duration::from_millis(5);

/// What came of it.
#[derive(Debug, Clone)]
pub(super) struct Load {
    pub(super) transfers: u64,
    /// Until the last had reached both banks.
    pub(super) took: Duration,
    /// How long callers waited for their answer.
    pub(super) latency: Durations,
}

impl Load {
    pub(super) fn per_s(&self) -> f64 {
        per_second(self.transfers, self.took)
    }
}

/// Runs transfers for so long.
pub(super) async fn run(banks: &Banks, way: Way, length: Duration) -> anyhow::Result<Load> {
    let began = Instant::now();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let mut conns = banks.connect().await?;
        callers.spawn(async move {
            let mut latency = Durations::default();
            let mut number = 0_u32;
            while began.elapsed() < length {
                let (name, account) = (format!("lab-{}-{caller}-{number}", way.name()), (number + caller) % ACCOUNTS);
                let asked = Instant::now();
                match way {
                    Way::Xa => naive::transfer(&mut conns, &name, account).await?,
                    Way::Outbox => protected::transfer(&mut conns.first, &name, account).await?,
                }
                latency.note(asked.elapsed());
                number += 1;
            }
            conns.close().await?;
            anyhow::Ok(latency)
        });
    }
    let done = Arc::new(AtomicBool::new(false));
    let relay = relay_until(banks, Arc::clone(&done));
    let called = async {
        let mut latency = Durations::default();
        while let Some(caller) = callers.join_next().await {
            latency.add(&caller??);
        }
        done.store(true, Ordering::Relaxed);
        anyhow::Ok(latency)
    };
    let (latency, relayed) = tokio::join!(called, relay);
    let latency = latency?;
    relayed?;
    Ok(Load { transfers: latency.count(), took: began.elapsed(), latency })
}

/// Relays until all callers are done and nothing waits any more.
async fn relay_until(banks: &Banks, done: Arc<AtomicBool>) -> anyhow::Result<()> {
    let mut conns = banks.connect().await?;
    loop {
        let was_done = done.load(Ordering::Relaxed);
        if protected::relay(&mut conns).await? == 0 {
            if was_done {
                return conns.close().await;
            }
            tokio::time::sleep(RELAY_PAUSE).await;
        }
    }
}
