//! Watches which shards have a relay that answers for them, and for how long one had none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use madang_kernel::SHARDS;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::programs::http::HttpClient;

/// How long a relay may take to say what it has; one that stands still has nothing.
const ANSWER_MAX: Duration = Duration::from_millis(500);
/// Between two rounds of questions.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How long a shard without an owner is watched past its bound, so that it can be seen to break it.
const PAST_BOUND: Duration = Duration::from_secs(2);
/// How long is watched at least: a relay that has gone is noticed by then.
const NOTICED: Duration = Duration::from_secs(2);

/// For how long each shard had no owner since a fault, at the longest.
#[derive(Debug, Clone)]
struct Gaps {
    last_owned: Vec<Instant>,
    is_owned: Vec<bool>,
    longest: Vec<Duration>,
    /// What each relay answered last.
    answered: BTreeMap<String, BTreeSet<u8>>,
    looks: u64,
    /// How often more than one relay answered for a shard.
    shared: u64,
}

/// What a fault did to shards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Shards whose owner the fault hit.
    pub trials: u64,
    /// Those that had no owner for longer than the bound.
    pub violations: u64,
    /// The longest that any of them had none: from the last look with an owner to the first with one again.
    pub longest: Duration,
}

impl Outcome {
    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.trials += other.trials;
        self.violations += other.violations;
        self.longest = self.longest.max(other.longest);
    }
}

impl Gaps {
    fn since(now: Instant) -> Self {
        let (last_owned, longest) = (vec![now; SHARDS], vec![Duration::ZERO; SHARDS]);
        let is_owned = vec![false; SHARDS];
        Self { last_owned, is_owned, longest, answered: BTreeMap::new(), looks: 0, shared: 0 }
    }

    /// Forgets the gaps so far: a fault comes.
    fn begin(&mut self, now: Instant) {
        self.last_owned = vec![now; SHARDS];
        self.longest = vec![Duration::ZERO; SHARDS];
    }

    /// Notes who has what at a moment: the shards of each relay, none of one that did not answer.
    fn note(&mut self, answered: BTreeMap<String, BTreeSet<u8>>, now: Instant) {
        for shard in 0..SHARDS {
            let owners = answered.values().filter(|shards| shards.iter().any(|one| usize::from(*one) == shard)).count();
            self.shared += u64::from(owners > 1);
            let was_owned = std::mem::replace(&mut self.is_owned[shard], owners > 0);
            if !(was_owned && owners > 0) {
                self.longest[shard] = self.longest[shard].max(now - self.last_owned[shard]);
            }
            if owners > 0 {
                self.last_owned[shard] = now;
            }
        }
        self.answered = answered;
        self.looks += 1;
    }

    fn all_owned(&self) -> bool {
        self.is_owned.iter().all(|is_owned| *is_owned)
    }

    /// What became of the shards that a fault took from their owner, and of others that had none for too long.
    fn outcome(&self, taken: &BTreeSet<u8>, bound: Duration) -> Outcome {
        let mut outcome = Outcome::default();
        for (shard, longest) in self.longest.iter().enumerate() {
            let is_late = *longest > bound;
            let is_taken = taken.iter().any(|one| usize::from(*one) == shard);
            outcome.trials += u64::from(is_taken || is_late);
            outcome.violations += u64::from(is_late);
            outcome.longest = outcome.longest.max(*longest);
        }
        outcome
    }
}

/// Watches for as long as it is held.
pub struct Owners {
    relays: Arc<Mutex<BTreeMap<String, String>>>,
    gaps: Arc<Mutex<Gaps>>,
    _task: JoinSet<()>,
}

impl Owners {
    /// Watches these relays, by name and address.
    #[must_use]
    pub fn watch(relays: BTreeMap<String, String>) -> Self {
        let (relays, gaps) = (Arc::new(Mutex::new(relays)), Arc::new(Mutex::new(Gaps::since(Instant::now()))));
        let mut task = JoinSet::new();
        let (asked, seen) = (relays.clone(), gaps.clone());
        task.spawn(async move {
            let client = HttpClient::new(ANSWER_MAX);
            loop {
                let relays = lock(&asked).clone();
                let mut answers = JoinSet::new();
                for (name, url) in relays {
                    let client = client.clone();
                    answers.spawn(async move { (name, shards(&client, &url).await.unwrap_or_default()) });
                }
                let answered = answers.join_all().await.into_iter().collect();
                lock(&seen).note(answered, Instant::now());
                sleep(ASK_EVERY).await;
            }
        });
        Self { relays, gaps, _task: task }
    }

    /// Watches one more, or an old one at another address.
    pub fn add(&self, name: &str, url: &str) {
        lock(&self.relays).insert(name.to_owned(), url.to_owned());
    }

    /// Waits until a relay has shards, and every shard an owner; returns those of the relay.
    pub async fn owned_by(&self, name: &str, at_most: Duration) -> anyhow::Result<BTreeSet<u8>> {
        let deadline = Instant::now() + at_most;
        loop {
            {
                let gaps = lock(&self.gaps);
                let owned = gaps.answered.get(name).filter(|shards| !shards.is_empty());
                if let (Some(shards), true) = (owned, gaps.all_owned()) {
                    return Ok(shards.clone());
                }
            }
            ensure!(Instant::now() < deadline, "{name} has no shards, or others have no owner, after {at_most:?}");
            sleep(ASK_EVERY).await;
        }
    }

    /// A fault comes: gaps count from here.
    pub fn begin(&self) {
        lock(&self.gaps).begin(Instant::now());
    }

    /// After a fault that took these shards from their owners: watches until every shard has an owner again, or one had none
    /// for longer than the bound.
    pub async fn outcome(&self, taken: &BTreeSet<u8>, bound: Duration) -> Outcome {
        self.watched(taken, NOTICED, bound).await
    }

    /// As [`Self::outcome`], and watches for the whole bound, because nothing says when a shard would be given up.
    pub async fn outcome_of_all(&self, taken: &BTreeSet<u8>, bound: Duration) -> Outcome {
        self.watched(taken, bound, bound).await
    }

    async fn watched(&self, taken: &BTreeSet<u8>, at_least: Duration, bound: Duration) -> Outcome {
        let began = Instant::now();
        loop {
            sleep(ASK_EVERY).await;
            let gaps = lock(&self.gaps);
            let is_over = began.elapsed() > at_least && gaps.all_owned();
            if is_over || began.elapsed() > bound.max(at_least) + PAST_BOUND {
                return gaps.outcome(taken, bound);
            }
        }
    }

    /// How often more than one relay answered for a shard.
    #[must_use]
    pub fn shared(&self) -> u64 {
        lock(&self.gaps).shared
    }
}

async fn shards(client: &HttpClient, url: &str) -> anyhow::Result<BTreeSet<u8>> {
    let answer = client.get(&format!("{url}/shards")).await?;
    serde_json::from_slice(&answer.body).context("no list of shards")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(owned: &[(&str, std::ops::Range<u8>)]) -> BTreeMap<String, BTreeSet<u8>> {
        owned.iter().map(|(name, shards)| ((*name).to_owned(), shards.clone().collect())).collect()
    }

    #[test]
    fn a_gap_lasts_from_the_last_look_with_an_owner_to_the_first_with_one_again() {
        let start = Instant::now();
        let (mut gaps, at) = (Gaps::since(start), |seconds| start + Duration::from_secs(seconds));
        let taken: BTreeSet<u8> = (32..64).collect();
        let seconds = Duration::from_secs;
        gaps.note(answers(&[("a", 0..32), ("b", 32..64)]), at(0));
        gaps.begin(at(1));
        gaps.note(answers(&[("a", 0..32), ("b", 0..0)]), at(2));
        assert!(!gaps.all_owned());
        gaps.note(answers(&[("a", 0..32)]), at(5));
        gaps.note(answers(&[("a", 0..64), ("b", 5..6)]), at(6));
        assert!(gaps.all_owned());
        assert_eq!(gaps.shared, 1);
        let outcome = |bound| gaps.outcome(&taken, seconds(bound));
        assert_eq!(outcome(5), Outcome { trials: 32, violations: 0, longest: seconds(5) });
        assert_eq!(outcome(4), Outcome { trials: 32, violations: 32, longest: seconds(5) });
        gaps.begin(at(7));
        gaps.note(answers(&[("a", 0..64)]), at(20));
        let outcome = gaps.outcome(&taken, seconds(1));
        assert_eq!(outcome, Outcome { trials: 32, violations: 0, longest: Duration::ZERO }, "an owner all the time");
    }

    #[test]
    fn a_shard_that_nobody_ever_takes_over_breaks_its_bound_and_counts_once_a_fault() {
        let start = Instant::now();
        let (mut gaps, at) = (Gaps::since(start), |seconds| start + Duration::from_secs(seconds));
        let (mut sum, bound) = (Outcome::default(), Duration::from_secs(3));
        for fault in [0, 100] {
            gaps.note(answers(&[("a", 0..64)]), at(fault));
            gaps.begin(at(fault));
            gaps.note(answers(&[("a", 0..60)]), at(fault + 2));
            assert_eq!(gaps.outcome(&BTreeSet::from([60]), bound).violations, 0);
            gaps.note(answers(&[("a", 0..60)]), at(fault + 4));
            sum.add(gaps.outcome(&BTreeSet::from([60]), bound));
        }
        let longest = Duration::from_secs(4);
        assert_eq!(
            sum,
            Outcome { trials: 8, violations: 8, longest },
            "also of shards that were not expected to be hit"
        );
    }
}
