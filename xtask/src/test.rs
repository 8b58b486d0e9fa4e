//! `cargo xtask test`: the one command that proves the product; sets up what it needs and counts what it ran.

mod crew;
mod servers;
mod suites;
mod total;

use std::process::Command;

use anyhow::{Result, bail};

use crate::interrupt::Interrupt;
use crate::steps::Steps;
use crate::{schemathesis, tidy, usage, workspace};
use crew::{Ended, Job};
use servers::Servers;
use suites::Suite;
use total::Total;

pub(crate) const HELP: &str = "\
Everything that proves the product.

Usage: cargo xtask test [--short] [--no-stack] [--one-by-one] [-- ARGS FOR THE TESTS]

Runs these steps, and stops at the first that fails:
  tidy       the rules a compiler does not know (cargo xtask help tidy)
  compile    every test program of the workspace, and the real binary, which the end-to-end tests start
  schemathesis
             the HTTP contract against a live server (cargo xtask help schemathesis)
  stack up   real servers of its own: MariaDB, Redis, Redis Cluster, Kafka (cargo xtask help stack); servers of yours are
             used where the variables name some
  tests      unit, conformance, simulation, crash, fault and end-to-end tests, two programs at a time
  stack down ends the servers, also when tests fail or are interrupted

A test that fails fails the command, and is not run again. The other programs still run; all failures are listed at the end.

A server that cannot be had (no root, no Java, no network) is a failure; only --no-stack leaves suites out, and they are
listed at the end. Ends with a table of the slowest programs and a line `N passed, N failed`.

Options:
  --short       Shortens the proofs that run for a set time (10 s of writers before the kill become 3 s)
  --no-stack    The quick run on a machine with Rust alone: starts no servers, and leaves out schemathesis and the suites
                that a Cargo.toml lists under `needs-servers`
  --one-by-one  One program after another, on a machine where time-outs strike
";

/// Asks the tests that run for a set time for their full length.
const LONG: &str = "MADANG_TEST_LONG";
/// Programs that run beside each other: much of what they do is waiting for servers and for set times.
const AT_ONCE: usize = 2;
/// The program that stands for the examples in comments, which cargo alone can run.
const EXAMPLES: &str = "examples in comments";

/// Runs every check and prints the total last.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = Options::parse(args)?;
    let mut steps = Steps::of("test");
    let mut total = Total::default();
    let outcome = run_steps(&mut steps, &options, &mut total);
    println!("\nslowest:\n{}", total.slowest());
    steps.summarize();
    for name in &total.failures {
        println!("FAILED: {name}");
    }
    for what in &total.left_out {
        println!("LEFT OUT by --no-stack: {what}");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    outcome
}

fn run_steps(steps: &mut Steps, options: &Options, total: &mut Total) -> Result<()> {
    let interrupt = Interrupt::listen()?;
    steps.run("tidy", tidy::check)?;
    let suites = steps.run("compile", suites::build)?;
    if options.no_stack {
        let (left_out, suites): (Vec<_>, Vec<_>) = suites.into_iter().partition(|suite| suite.needs_servers);
        total.left_out = left_out.into_iter().map(|suite| suite.name).chain(["schemathesis".to_owned()]).collect();
        let no_servers = |command: &mut Command| options.ask_for_length(command);
        return steps.run("tests", || run_tests(&suites, options, no_servers, &interrupt, total));
    }
    // Asked for some tests by name, nobody waits for minutes of others.
    if options.for_tests.is_empty() {
        steps.run("schemathesis", schemathesis::step)?;
    }
    let servers = steps.run("stack up", || Servers::start(&interrupt))?;
    let on_servers = |command: &mut Command| {
        options.ask_for_length(command);
        servers.name_to(command);
    };
    let tested = steps.run("tests", || run_tests(&suites, options, on_servers, &interrupt, total));
    let ended = steps.run("stack down", || servers.end());
    tested.and(ended)
}

/// Runs all programs to their end, also after one has failed.
fn run_tests(
    suites: &[Suite],
    options: &Options,
    surroundings: impl Fn(&mut Command),
    interrupt: &Interrupt,
    total: &mut Total,
) -> Result<()> {
    let job = |suite: &Suite| {
        let mut command = suite.command();
        surroundings(&mut command);
        command.args(&options.for_tests);
        Job { name: suite.name.clone(), command }
    };
    let mut jobs: Vec<Job> = suites.iter().map(job).collect();
    if options.for_tests.is_empty() {
        jobs.push(examples());
    }
    let at_once = if options.one_by_one { 1 } else { AT_ONCE };
    crew::run(jobs, at_once, interrupt, |ended| {
        show(ended);
        total.add(ended);
    })?;
    if !total.failures.is_empty() {
        bail!("{} failed; they are listed above", total.failures.len());
    }
    if total.passed == 0 && options.for_tests.is_empty() {
        bail!("no test ran");
    }
    Ok(())
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

#[derive(Debug, Default, PartialEq)]
struct Options {
    short: bool,
    no_stack: bool,
    one_by_one: bool,
    for_tests: Vec<String>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--short" => options.short = true,
                "--no-stack" => options.no_stack = true,
                "--one-by-one" => options.one_by_one = true,
                // What it was before it became the rule.
                "--stack" => {}
                "--" => options.for_tests = args.by_ref().cloned().collect(),
                unknown => return Err(usage(format!("`test` has no option `{unknown}`"))),
            }
        }
        Ok(options)
    }

    fn ask_for_length(&self, command: &mut Command) {
        if self.short {
            command.env_remove(LONG);
        } else {
            command.env(LONG, "1");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn what_follows_two_dashes_goes_to_the_tests() {
        let options = parse(&["--short", "--", "crash", "--no-stack"]).unwrap();
        let for_tests = vec!["crash".into(), "--no-stack".into()];
        assert_eq!(options, Options { short: true, for_tests, ..Options::default() });
        assert!(parse(&["--sort"]).unwrap_err().is::<crate::Usage>());
    }
}
