//! `cargo xtask test`: the one command that proves the product; sets up what it needs and counts what it ran.

mod runner;
mod suites;
mod summary;

use std::process::Command;

use anyhow::{Result, bail};

use crate::interrupt::Interrupt;
use crate::stack::TestStack;
use crate::steps::Steps;
use crate::{contract, lab, promtool, schemathesis, tidy, workspace};
use runner::{Ended, Job};
use suites::Suite;
use summary::Summary;

/// Everything that proves the product.
///
/// Runs these steps, and stops at the first that fails:
///   tidy          the rules a compiler does not know (cargo xtask help tidy)
///   compile       every test program of the workspace, and the real binary, which the end-to-end tests start
///   contract      clients generated from the description, and what they do (cargo xtask help contract)
///   schemathesis  the HTTP contract against a live server (cargo xtask help schemathesis)
///   stack up      real servers of its own: MariaDB, Redis, Redis Cluster, Kafka (cargo xtask help stack); servers of yours
///                 are used where the variables name some
///   rules         the alerts of deploy/prometheus, checked and unit-tested by promtool
///   tests         unit, conformance, simulation, crash, fault and end-to-end tests, two programs at a time
///   lab           the quick run of the Reliability Lab, which kills these servers as it goes (cargo xtask help lab)
///   stack down    ends the servers, also when tests fail or are interrupted
///
/// A test that fails fails the command, and is not run again. The other programs still run; all failures are listed at the
/// end. A server that cannot be had (no root, no Java, no network) is a failure too; only --no-stack leaves suites out, and
/// they are listed. Ends with a table of the slowest programs and a line `N passed, N failed`.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Test {
    /// Shortens the proofs that run for a set time (10 s of writers before the kill become 3 s).
    #[arg(long)]
    pub(crate) short: bool,
    /// The quick run on a machine with Rust alone: starts no servers, and leaves out contract, schemathesis, rules, the lab and the
    /// suites that a Cargo.toml lists under `needs-servers`.
    #[arg(long)]
    pub(crate) no_stack: bool,
    /// One program after another, on a machine where time-outs strike.
    #[arg(long)]
    one_by_one: bool,
    /// What it was before it became the rule.
    #[arg(long, hide = true)]
    stack: bool,
    /// Handed on to the test programs, such as a part of the names of tests.
    #[arg(last = true)]
    pub(crate) for_tests: Vec<String>,
}

/// Asks the tests that run for a set time for their full length.
const LONG: &str = "MADANG_TEST_LONG";
/// Programs that run beside each other: much of what they do is waiting for servers and for set times.
const AT_ONCE: usize = 2;
/// The program that stands for the examples in comments, which cargo alone can run.
const EXAMPLES: &str = "examples in comments";

impl Test {
    /// Runs every check and prints the summary last.
    pub(crate) fn run(&self) -> Result<()> {
        let mut steps = Steps::of("test");
        let mut summary = Summary::default();
        let outcome = self.run_steps(&mut steps, &mut summary);
        println!("\nslowest:\n{}", summary.slowest());
        steps.summarize();
        for name in &summary.failures {
            println!("FAILED: {name}");
        }
        for what in &summary.left_out {
            println!("LEFT OUT by --no-stack: {what}");
        }
        println!("{} passed, {} failed", summary.passed, summary.failed);
        outcome
    }

    fn run_steps(&self, steps: &mut Steps, summary: &mut Summary) -> Result<()> {
        let interrupt = Interrupt::listen()?;
        steps.run("tidy", tidy::check)?;
        let suites = steps.run("compile", suites::build)?;
        if self.no_stack {
            let (left_out, suites): (Vec<_>, Vec<_>) = suites.into_iter().partition(|suite| suite.needs_servers);
            let steps_left_out = ["contract", "schemathesis", "rules", "lab"].map(str::to_owned);
            summary.left_out = left_out.into_iter().map(|suite| suite.name).chain(steps_left_out).collect();
            return steps.run("tests", || self.run_tests(&suites, &[], &interrupt, summary));
        }
        // Asked for some tests by name, nobody waits for minutes of others.
        if self.for_tests.is_empty() {
            steps.run("contract", contract::step)?;
            steps.run("schemathesis", schemathesis::step)?;
        }
        let stack = steps.run("stack up", || TestStack::up(&interrupt))?;
        let rules = if self.for_tests.is_empty() { steps.run("rules", promtool::step) } else { Ok(()) };
        let tested = rules
            .and_then(|()| steps.run("tests", || self.run_tests(&suites, &stack.environment(), &interrupt, summary)));
        // Last, because it leaves the servers with what it did to them.
        let tested = match tested {
            Ok(()) if self.for_tests.is_empty() => steps.run("lab", || lab::step(&stack, &interrupt)),
            other => other,
        };
        let ended = steps.run("stack down", || stack.down());
        tested.and(ended)
    }

    /// Runs all programs to their end, also after one has failed.
    fn run_tests(
        &self,
        suites: &[Suite],
        environment: &[(&str, String)],
        interrupt: &Interrupt,
        summary: &mut Summary,
    ) -> Result<()> {
        let job = |suite: &Suite| {
            let mut command = suite.command();
            command.args(&self.for_tests).envs(environment.iter().map(|(name, value)| (name, value)));
            self.ask_for_length(&mut command);
            Job { name: suite.name.clone(), command }
        };
        let mut jobs: Vec<Job> = suites.iter().map(job).collect();
        if self.for_tests.is_empty() {
            jobs.push(examples());
        }
        let at_once = if self.one_by_one { 1 } else { AT_ONCE };
        runner::run(jobs, at_once, interrupt, |ended| {
            show(ended);
            summary.add(ended);
        })?;
        if !summary.failures.is_empty() {
            bail!("{} failed; they are listed above", summary.failures.len());
        }
        if summary.passed == 0 && self.for_tests.is_empty() {
            bail!("no test ran");
        }
        Ok(())
    }

    fn ask_for_length(&self, command: &mut Command) {
        if self.short {
            command.env_remove(LONG);
        } else {
            command.env(LONG, "1");
        }
    }
}

fn examples() -> Job {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--doc"]);
    Job { name: EXAMPLES.to_owned(), command }
}

fn show(ended: &Ended) {
    println!("\n=== {} ({:.1} s)\n{}", ended.name, ended.took.as_secs_f64(), ended.output.trim_end());
    if !ended.status.success() {
        println!("=== {} FAILED ({})", ended.name, ended.status);
    }
}
