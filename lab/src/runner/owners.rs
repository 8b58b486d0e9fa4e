//! Watches which shards have a relay that answers for them, and for how long one had none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use madang_kernel::SHARDS;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::programs::http::HttpClient;

/// How long a relay may take to say what it has; one that stands still has nothing.
const ANSWER_MAX: Duration = Duration::from_millis(500);
/// Between two rounds of questions.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// For how long each shard had no owner, at the longest.
#[derive(Debug, Clone)]
pub struct Gaps {
    since: Vec<Option<Instant>>,
    longest: Vec<Duration>,
    /// How often more than one relay answered for a shard.
    pub shared: u64,
}

impl Default for Gaps {
    fn default() -> Self {
        Self { since: vec![None; SHARDS], longest: vec![Duration::ZERO; SHARDS], shared: 0 }
    }
}

impl Gaps {
    /// Notes who has what at a moment: the shards of each relay that answered.
    fn note(&mut self, owned: &[Vec<u8>], now: Instant) {
        for shard in 0..SHARDS {
            let owners = owned.iter().filter(|shards| shards.iter().any(|one| usize::from(*one) == shard)).count();
            self.shared += u64::from(owners > 1);
            if owners > 0 {
                self.since[shard] = None;
            } else {
                let since = *self.since[shard].get_or_insert(now);
                self.longest[shard] = self.longest[shard].max(now - since);
            }
        }
    }

    /// The longest gap of any shard.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.longest.iter().max().copied().unwrap_or_default()
    }

    /// How many shards had no owner for longer than `bound`.
    #[must_use]
    pub fn longer_than(&self, bound: Duration) -> u64 {
        self.longest.iter().filter(|longest| **longest > bound).count() as u64
    }
}

/// Watches for as long as it is held.
pub struct Owners {
    relays: Arc<Mutex<BTreeMap<String, String>>>,
    gaps: Arc<Mutex<Gaps>>,
    task: JoinSet<()>,
}

impl Owners {
    /// Watches these relays, by name and address.
    #[must_use]
    pub fn watch(relays: BTreeMap<String, String>) -> Self {
        let (relays, gaps) = (Arc::new(Mutex::new(relays)), Arc::new(Mutex::new(Gaps::default())));
        let mut task = JoinSet::new();
        let (asked, seen) = (relays.clone(), gaps.clone());
        task.spawn(async move {
            let client = HttpClient::new(ANSWER_MAX);
            loop {
                let urls: Vec<String> = lock(&asked).values().cloned().collect();
                let mut answers = JoinSet::new();
                for url in urls {
                    let client = client.clone();
                    answers.spawn(async move { shards(&client, &url).await.unwrap_or_default() });
                }
                let owned = answers.join_all().await;
                lock(&seen).note(&owned, Instant::now());
                sleep(ASK_EVERY).await;
            }
        });
        Self { relays, gaps, task }
    }

    /// Watches one more.
    pub fn add(&self, name: &str, url: &str) {
        lock(&self.relays).insert(name.to_owned(), url.to_owned());
    }

    /// What was seen.
    pub async fn stop(mut self) -> Gaps {
        self.task.shutdown().await;
        lock(&self.gaps).clone()
    }
}

async fn shards(client: &HttpClient, url: &str) -> anyhow::Result<Vec<u8>> {
    let answer = client.get(&format!("{url}/shards")).await?;
    serde_json::from_slice(&answer.body).context("no list of shards")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_lasts_from_the_first_look_without_an_owner_to_the_last() {
        let (mut gaps, start) = (Gaps::default(), Instant::now());
        let all: Vec<u8> = (0..64).collect();
        let at = |seconds| start + Duration::from_secs(seconds);
        gaps.note(std::slice::from_ref(&all), at(0));
        gaps.note(&[(0..32).collect()], at(1));
        gaps.note(&[(0..32).collect()], at(4));
        gaps.note(&[all.clone(), vec![5]], at(5));
        gaps.note(&[(1..64).collect()], at(6));
        gaps.note(&[all], at(7));
        assert_eq!((gaps.longest(), gaps.shared), (Duration::from_secs(3), 1));
        assert_eq!((gaps.longer_than(Duration::from_secs(2)), gaps.longer_than(Duration::from_secs(3))), (32, 0));
    }
}
