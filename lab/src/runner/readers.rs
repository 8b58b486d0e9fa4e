//! Readers that compare what a query program shows with what the projection had before they asked: how many reads were stale,
//! and for how long.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use mysql_async::prelude::Queryable as _;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde::Deserialize;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::observe;
use crate::programs::http::HttpClient;

/// How long a reader waits for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(3);
/// Between two looks at the projection.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a query program answered.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Seen {
    /// The balance.
    pub balance: i64,
    /// Its version.
    pub version: u64,
}

/// Asks a query program; `None` when it knows nothing, or does not answer.
pub async fn read(client: &HttpClient, url: &str, account: u16) -> Option<Seen> {
    let answer = client.get(&format!("{url}/accounts/{account}")).await.ok()?;
    answer.status.is_success().then(|| serde_json::from_slice(&answer.body).ok()).flatten()
}

/// What was read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reads {
    /// Reads that were answered.
    pub answered: u64,
    /// Reads that showed less than the projection had before they began.
    pub stale: u64,
    /// The longest that something was shown after the projection had something newer, in milliseconds.
    pub stale_ms_max: f64,
}

/// When the projection was first seen to have a version, by account.
type Truth = BTreeMap<u16, Vec<(u64, Instant)>>;

/// Readers at work.
pub struct Readers {
    tasks: JoinSet<()>,
    stop: Arc<AtomicBool>,
    reads: Arc<Mutex<Reads>>,
}

impl Readers {
    /// Begins to read accounts 1 to `accounts` from these programs, and to watch the projection of `prefix`.
    pub async fn start(
        urls: &[String],
        mysql: &str,
        prefix: &str,
        accounts: u16,
        count: u64,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let (stop, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Reads::default())));
        let truth = Arc::new(Mutex::new(Truth::new()));
        let mut conn = observe::connect(mysql).await?;
        let versions = format!("SELECT account_id, version FROM `{prefix}_projection`.account_projection");
        let mut tasks = JoinSet::new();
        let (over, known) = (stop.clone(), truth.clone());
        tasks.spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let found: Vec<(u16, u64)> = conn.query(&versions).await.unwrap_or_default();
                learn(&mut known.lock().unwrap_or_else(PoisonError::into_inner), &found);
                sleep(LOOK_EVERY).await;
            }
        });
        for number in 0..count {
            let (urls, stop, reads, truth) = (urls.to_vec(), stop.clone(), reads.clone(), truth.clone());
            let mut chance = SmallRng::seed_from_u64(seed.wrapping_add(number));
            tasks.spawn(async move {
                let client = HttpClient::new(ANSWER_MAX);
                while !stop.load(Ordering::Relaxed) {
                    let account = chance.random_range(1..=accounts);
                    let url = &urls[chance.random_range(0..urls.len())];
                    let known = newest(&truth.lock().unwrap_or_else(PoisonError::into_inner), account);
                    match read(&client, url, account).await {
                        Some(seen) => {
                            let since = known.filter(|known| seen.version < *known).and_then(|_| {
                                overtaken(&truth.lock().unwrap_or_else(PoisonError::into_inner), account, seen.version)
                            });
                            note(&mut reads.lock().unwrap_or_else(PoisonError::into_inner), since);
                        }
                        None => sleep(LOOK_EVERY).await,
                    }
                    sleep(Duration::from_millis(2)).await;
                }
            });
        }
        Ok(Self { tasks, stop, reads })
    }

    /// Ends the readers.
    pub async fn stop(mut self) -> anyhow::Result<Reads> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.context("a reader panicked")?;
        }
        Ok(*self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn learn(truth: &mut Truth, found: &[(u16, u64)]) {
    for (account, version) in found {
        let known = truth.entry(*account).or_default();
        if known.last().is_none_or(|(newest, _)| newest < version) {
            known.push((*version, Instant::now()));
        }
    }
}

fn newest(truth: &Truth, account: u16) -> Option<u64> {
    truth.get(&account)?.last().map(|(version, _)| *version)
}

/// Since when the projection had something newer than `version`.
fn overtaken(truth: &Truth, account: u16, version: u64) -> Option<Instant> {
    truth.get(&account)?.iter().find(|(known, _)| *known > version).map(|(_, at)| *at)
}

fn note(reads: &mut Reads, stale_since: Option<Instant>) {
    reads.answered += 1;
    if let Some(since) = stale_since {
        reads.stale += 1;
        reads.stale_ms_max = reads.stale_ms_max.max(since.elapsed().as_secs_f64() * 1_000.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_stale_since_the_first_newer_version_was_there() {
        let mut truth = Truth::new();
        learn(&mut truth, &[(1, 3)]);
        learn(&mut truth, &[(1, 3), (2, 1)]);
        learn(&mut truth, &[(1, 5)]);
        assert_eq!((newest(&truth, 1), newest(&truth, 2), newest(&truth, 3)), (Some(5), Some(1), None));
        assert_eq!(overtaken(&truth, 1, 2), Some(truth[&1][0].1));
        assert_eq!(overtaken(&truth, 1, 4), Some(truth[&1][1].1));
        assert_eq!(overtaken(&truth, 1, 5), None);
        let mut reads = Reads::default();
        note(&mut reads, None);
        note(&mut reads, Some(Instant::now()));
        assert_eq!((reads.answered, reads.stale), (2, 1));
    }
}
