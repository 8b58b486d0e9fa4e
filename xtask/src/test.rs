//! `cargo xtask test`: the one command that proves the product; sets up what it needs and counts what it ran.

mod again;
mod on_stack;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::steps::Steps;
use crate::{schemathesis, tidy, usage, workspace};

pub(crate) const HELP: &str = "\
Everything that proves the product.

Usage: cargo xtask test [--short] [--stack] [-- ARGS FOR THE TESTS]

Runs, and stops at the first that fails:
  tidy     the rules a compiler does not know (cargo xtask help tidy)
  build    cargo build -p madang: the end-to-end tests start the real binary
  schemathesis
           the HTTP contract against a live server (cargo xtask help schemathesis); left out with a notice where
           it cannot be installed, which with CI=true is a failure
  tests    cargo test --workspace: unit, conformance, simulation, crash and end-to-end tests

A test that fails is run once more by itself. If it passes then, it is listed as UNSTEADY: a defect to be mended, which
does not stand in the way of everything else. If it fails again, the command fails.

Ends with a line `N passed, N failed`.

Options:
  --short  Shortens the proofs that run for a set time (10 s of writers before the kill become 3 s)
  --stack  Runs the suites that need real servers as well: brings a stack of its own up (cargo xtask help stack),
           and takes it down also when tests fail or are interrupted; servers of your own are used where the
           variables name some. Suites without a server are left out with a notice; with CI=true that is a failure
";

/// Asks the tests that run for a set time for their full length.
const LONG: &str = "MADANG_TEST_LONG";

/// How `cargo test` ends when tests failed; when it is interrupted, it ends otherwise.
const TESTS_FAILED: i32 = 101;

/// Runs every check and prints the total last.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = Options::parse(args)?;
    let mut steps = Steps::of("test");
    let mut total = Total::default();
    let outcome = run_steps(&mut steps, &options, &mut total);
    steps.summarize();
    for name in &total.failed_before {
        println!("UNSTEADY: {name} failed, and passed when it was run again by itself");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    outcome
}

fn run_steps(steps: &mut Steps, options: &Options, total: &mut Total) -> Result<()> {
    steps.run("tidy", tidy::check)?;
    steps.run("build", || workspace::run(workspace::cargo().args(["build", "-p", "madang"])))?;
    // Asked for some tests by name, nobody waits for minutes of others.
    if options.for_tests.is_empty() {
        schemathesis::step(steps)?;
    }
    if options.stack {
        return on_stack::run(steps, options, total);
    }
    steps.run("tests", || {
        let mut command = test_command(options);
        let mut child = start(&mut command)?;
        follow(&command, &mut child, options, total)
    })
}

/// The command that runs every test of the workspace.
fn test_command(options: &Options) -> Command {
    let mut command = workspace::cargo();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Without --no-fail-fast the total would leave out what comes after the first failing crate.
    command.args(["test", "--workspace", "--no-fail-fast", "--"]).args(&options.for_tests);
    if options.short {
        command.env_remove(LONG);
    } else {
        command.env(LONG, "1");
    }
    command
}

fn start(command: &mut Command) -> Result<Child> {
    command.spawn().context("could not start `cargo test`")
}

/// Passes the output on and counts, until the tests have ended; then runs those that failed once more.
fn follow(command: &Command, child: &mut Child, options: &Options, total: &mut Total) -> Result<()> {
    let output = child.stdout.take().context("the output of `cargo test` is not ours to read")?;
    let messages = child.stderr.take().context("the messages of `cargo test` are not ours to read")?;
    let (seen, told) = std::thread::scope(|scope| {
        let told = scope.spawn(|| pass_on(messages, std::io::stderr()));
        let seen = pass_on(output, std::io::stdout());
        (seen, told.join().unwrap_or_else(|_| bail!("the messages of `cargo test` could not be followed")))
    });
    let (seen, told) = (seen?, told?);
    seen.iter().for_each(|line| total.add(line));
    let status = child.wait()?;
    if total.failed > 0 {
        if status.code() != Some(TESTS_FAILED) {
            bail!("{} tests failed, and the run was ended", total.failed);
        }
        return again::run(command, &seen, &told, total);
    }
    workspace::succeeded(command, status).context("no test failed, but something did not compile or was killed")?;
    if total.passed == 0 && options.for_tests.is_empty() {
        bail!("no test ran");
    }
    Ok(())
}

/// Passes output on as it comes, and returns the lines that say how tests ended.
fn pass_on(from: impl Read, mut to: impl Write) -> Result<Vec<String>> {
    let mut kept = Vec::new();
    for line in BufReader::new(from).split(b'\n') {
        let mut line = line.context("could not read the output of `cargo test`")?;
        let text = String::from_utf8_lossy(&line);
        if ["test ", "error: "].iter().any(|start| text.trim_start().starts_with(start)) {
            kept.push(text.trim().to_owned());
        }
        line.push(b'\n');
        to.write_all(&line)?;
    }
    Ok(kept)
}

#[derive(Debug, Default, PartialEq)]
struct Options {
    short: bool,
    stack: bool,
    for_tests: Vec<String>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--short" => options.short = true,
                "--stack" => options.stack = true,
                "--" => options.for_tests = args.by_ref().cloned().collect(),
                unknown => return Err(usage(format!("`test` has no option `{unknown}`"))),
            }
        }
        Ok(options)
    }
}

/// Tests counted over all test programs of the run.
#[derive(Debug, Default, PartialEq)]
struct Total {
    passed: u64,
    failed: u64,
    /// Failed at first, and passed by themselves.
    failed_before: Vec<String>,
}

impl Total {
    /// Takes in a line of output; only `test result: ok. 5 passed; 1 failed; …` counts.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.trim_start().strip_prefix("test result:").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split(';') {
            match count.trim().split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
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
    fn results_of_all_programs_are_summed() {
        let mut total = Total::default();
        for line in [
            "running 3 tests",
            "test a_name_with_5_passed ... ok",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s",
        ] {
            total.add(line);
        }
        assert_eq!(total, Total { passed: 15, failed: 2, failed_before: Vec::new() });
    }

    #[test]
    fn what_follows_two_dashes_goes_to_the_tests() {
        let options = parse(&["--short", "--", "crash", "--stack"]).unwrap();
        assert_eq!(options, Options { short: true, stack: false, for_tests: vec!["crash".into(), "--stack".into()] });
        assert!(parse(&["--sort"]).unwrap_err().is::<crate::Usage>());
    }
}
