//! The steps of a task: each is announced, timed and summed up, and the first failure ends the task.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The steps of one task, in the order in which they ran.
pub(crate) struct Steps {
    task: &'static str,
    started: Instant,
    done: Vec<(&'static str, Duration, &'static str)>,
}

impl Steps {
    /// A task that begins now.
    pub(crate) fn of(task: &'static str) -> Self {
        Self { task, started: Instant::now(), done: Vec::new() }
    }

    /// Runs one step; its error names it.
    pub(crate) fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("\n[{:>6.1} s] {}: {name}", self.started.elapsed().as_secs_f64(), self.task);
        let started = Instant::now();
        let result = step();
        self.done.push((name, started.elapsed(), if result.is_ok() { "passed" } else { "FAILED" }));
        result.with_context(|| format!("{} stopped at `{name}`", self.task))
    }

    /// Prints each step with its time, and the time of the whole.
    pub(crate) fn summarize(&self) {
        eprintln!("\n{}:", self.task);
        for (name, took, outcome) in self.done.iter().chain([&("total", self.started.elapsed(), "")]) {
            eprintln!("  {name:<14} {:>8.1} s  {outcome}", took.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_step() {
        let mut steps = Steps::of("lint");
        steps.run("first", || Ok(())).unwrap();
        let error = steps.run("second", || -> Result<()> { anyhow::bail!("broken") }).unwrap_err();
        assert_eq!(format!("{error:#}"), "lint stopped at `second`: broken");
        assert_eq!(steps.done.iter().map(|(.., outcome)| *outcome).collect::<Vec<_>>(), ["passed", "FAILED"]);
    }
}
