//! Many seeds at once, and what they showed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{Kind, Protections, Violation, run};

/// What a range of seeds showed.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Seeds played.
    pub seeds: u64,
    /// Seeds with at least one violation, in order.
    pub failing: Vec<u64>,
    /// Seeds with at least one violation of each kind.
    pub by_kind: BTreeMap<Kind, u64>,
    /// Messages committed in all of them.
    pub committed: usize,
    /// Rows claimed by a process whose shards had another owner by then, in all of them.
    pub claimed_past_lease: u64,
    /// Steps taken in all of them.
    pub steps: u64,
    /// How long it took.
    pub took: Duration,
}

/// Seeds that a worker takes at a time: few, so that all workers end together.
const SEEDS_AT_A_TIME: u64 = 16;

/// Plays `seeds` on every core.
pub fn sweep(seeds: Range<u64>, protections: Protections) -> Sweep {
    sweep_watched(seeds, protections, |_, _| {})
}

/// Plays `seeds` on every core, and calls `watch` with each seed and what was broken in it, from any thread.
pub fn sweep_watched(seeds: Range<u64>, protections: Protections, watch: impl Fn(u64, &[Violation]) + Sync) -> Sweep {
    let started = Instant::now();
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut part = Sweep::default();
        loop {
            let first = next.fetch_add(SEEDS_AT_A_TIME, Ordering::Relaxed);
            if first >= seeds.end {
                return part;
            }
            for seed in first..(first + SEEDS_AT_A_TIME).min(seeds.end) {
                let violations = part.play(seed, protections);
                watch(seed, &violations);
            }
        }
    };
    let parts: Vec<Sweep> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ended = running.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.collect()
    });
    let mut whole = parts.into_iter().fold(Sweep::default(), Sweep::with);
    whole.failing.sort_unstable();
    whole.took = started.elapsed();
    whole
}

impl Sweep {
    /// Plays one seed and takes in what it showed. A panic of a machine is a violation of the seed in which it happened.
    fn play(&mut self, seed: u64, protections: Protections) -> Vec<Violation> {
        self.seeds += 1;
        let violations = match catch_unwind(|| run(seed, protections)) {
            Ok(outcome) => {
                self.committed += outcome.committed;
                self.claimed_past_lease += outcome.claimed_past_lease;
                self.steps += outcome.steps;
                outcome.violations
            }
            Err(_) => vec![Violation { kind: Kind::Panicked, group: None, event: None }],
        };
        let kinds: BTreeSet<Kind> = violations.iter().map(|violation| violation.kind).collect();
        if !kinds.is_empty() {
            self.failing.push(seed);
        }
        for kind in kinds {
            *self.by_kind.entry(kind).or_default() += 1;
        }
        violations
    }

    /// The 95 % upper bound of the rate of failing seeds where none failed, in percent: 3/n, the rule of three.
    pub fn bound_percent(&self) -> Option<f64> {
        (self.failing.is_empty() && self.seeds > 0).then(|| 300.0 / self.seeds as f64)
    }

    /// Seeds a second.
    pub fn rate(&self) -> f64 {
        self.seeds as f64 / self.took.as_secs_f64().max(0.001)
    }

    /// Seeds with a violation, in percent.
    pub fn failing_percent(&self) -> f64 {
        self.percent(self.failing.len() as u64)
    }

    /// Seeds with a violation of one kind, in percent.
    pub fn percent_of(&self, kind: Kind) -> f64 {
        self.percent(self.by_kind.get(&kind).copied().unwrap_or(0))
    }

    fn percent(&self, seeds: u64) -> f64 {
        seeds as f64 * 100.0 / self.seeds.max(1) as f64
    }

    fn with(mut self, other: Self) -> Self {
        self.seeds += other.seeds;
        self.failing.extend(other.failing);
        for (kind, seeds) in other.by_kind {
            *self.by_kind.entry(kind).or_default() += seeds;
        }
        self.committed += other.committed;
        self.claimed_past_lease += other.claimed_past_lease;
        self.steps += other.steps;
        self
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seeds, failing, rate) = (self.seeds, self.failing_percent(), self.rate());
        write!(f, "{seeds:>6} seeds {failing:>6.1} % broken  {rate:>6.0} seeds/s")?;
        if let Some(bound) = self.bound_percent() {
            write!(f, "  failure rate below {bound:.3} %")?;
        }
        for kind in self.by_kind.keys() {
            write!(f, "  {kind:?} {:.1} %", self.percent_of(*kind))?;
        }
        Ok(())
    }
}
