//! Many seeds at once, and what they showed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::{Kind, Protections, run};

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
    /// Steps taken in all of them.
    pub steps: u64,
    /// How long it took.
    pub took: Duration,
}

/// Plays `seeds` on every core.
pub fn sweep(seeds: std::ops::Range<u64>, protections: Protections) -> Sweep {
    let started = Instant::now();
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let parts: Vec<Sweep> = std::thread::scope(|scope| {
        let part = |worker: u64| {
            let seeds = seeds.clone().skip(worker as usize).step_by(workers as usize);
            scope.spawn(move || play(seeds, protections))
        };
        let running: Vec<_> = (0..workers).map(part).collect();
        running.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut whole = parts.into_iter().fold(Sweep::default(), Sweep::with);
    whole.failing.sort_unstable();
    whole.took = started.elapsed();
    whole
}

fn play(seeds: impl Iterator<Item = u64>, protections: Protections) -> Sweep {
    let mut sweep = Sweep::default();
    for seed in seeds {
        let outcome = run(seed, protections);
        sweep.seeds += 1;
        sweep.committed += outcome.committed;
        sweep.steps += outcome.steps;
        let mut kinds: Vec<Kind> = outcome.violations.iter().map(|violation| violation.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if !kinds.is_empty() {
            sweep.failing.push(seed);
        }
        for kind in kinds {
            *sweep.by_kind.entry(kind).or_default() += 1;
        }
    }
    sweep
}

impl Sweep {
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
        self.steps += other.steps;
        self
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.seeds as f64 / self.took.as_secs_f64().max(0.001);
        write!(f, "{:>6} seeds {:>6.1} % broken  {rate:>6.0} seeds/s", self.seeds, self.failing_percent())?;
        if self.failing.is_empty() {
            // The rule of three: no failure among n bounds the rate at 3/n with 95 % confidence.
            write!(f, "  failure rate below {:.3} %", 300.0 / self.seeds.max(1) as f64)?;
        }
        for kind in self.by_kind.keys() {
            write!(f, "  {kind:?} {:.1} %", self.percent_of(*kind))?;
        }
        Ok(())
    }
}
