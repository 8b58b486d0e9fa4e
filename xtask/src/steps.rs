//! A task as a row of steps: says what runs, how long it took, and stops at the first failure.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The steps of one task, in the order in which they ran.
pub(crate) struct Steps {
    task: &'static str,
    started: Instant,
    done: Vec<Step>,
}

struct Step {
    name: &'static str,
    took: Duration,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    Failed,
    LeftOut,
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
        let outcome = if result.is_ok() { Outcome::Passed } else { Outcome::Failed };
        self.done.push(Step { name, took: started.elapsed(), outcome });
        result.with_context(|| format!("{} stopped at `{name}`", self.task))
    }

    /// Notes a step that cannot run here, and what would make it run.
    pub(crate) fn leave_out(&mut self, name: &'static str, why: &str) {
        eprintln!("\n[{:>6.1} s] {}: {name} left out: {why}", self.started.elapsed().as_secs_f64(), self.task);
        self.done.push(Step { name, took: Duration::ZERO, outcome: Outcome::LeftOut });
    }

    /// Prints each step with its time, and the time of the whole.
    pub(crate) fn summarize(&self) {
        eprintln!("\n{}", self.summary());
    }

    fn summary(&self) -> String {
        let width = self.done.iter().map(|step| step.name.len()).chain([5]).max().unwrap_or(5);
        let mut text = format!("{}:\n", self.task);
        for Step { name, took, outcome } in &self.done {
            let outcome = match outcome {
                Outcome::Passed => "passed",
                Outcome::Failed => "FAILED",
                Outcome::LeftOut => "left out",
            };
            text += &format!("  {name:<width$} {:>8.1} s  {outcome}\n", took.as_secs_f64());
        }
        text + &format!("  {:<width$} {:>8.1} s", "total", self.started.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_step_and_shows_in_the_summary() {
        let mut steps = Steps::of("lint");
        steps.run("first", || Ok(())).unwrap();
        steps.leave_out("second", "it is not installed");
        let error = steps.run("third", || -> Result<()> { anyhow::bail!("broken") }).unwrap_err();
        assert_eq!(format!("{error:#}"), "lint stopped at `third`: broken");

        let summary = steps.summary();
        let outcomes: Vec<_> = summary.lines().skip(1).map(|line| line.rsplit("  ").next().unwrap()).collect();
        assert_eq!(outcomes[..3], ["passed", "left out", "FAILED"]);
    }
}
