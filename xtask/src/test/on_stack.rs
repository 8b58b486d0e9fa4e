//! The tests with real servers: a stack of their own, which ends with them, whatever becomes of them.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::Signal;

use super::{Options, Total, follow, start, test_command};
use crate::interrupt::Interrupt;
use crate::stack::{self, Ending, Missing, Stack};
use crate::steps::Steps;

/// Tells suites that a missing server is a failure, not a reason to be left out.
const STACK: &str = "MADANG_TEST_STACK";
/// How often it is looked whether the tests are done.
const LOOK_MS: u64 = 100;
/// How long tests may take to end once interrupted.
const END_S: u64 = 10;

/// Brings a stack up, runs the tests on it, and takes it down.
pub(super) fn run(steps: &mut Steps, options: &Options, total: &mut Total) -> Result<()> {
    let interrupt = Interrupt::listen()?;
    let stack = Down(steps.run("stack up", || Stack::for_tests(&interrupt))?);
    let tested = test_on(&stack.0, steps, options, total, &interrupt);
    let ended = steps.run("stack down", || stack.0.down());
    tested.and(ended)
}

/// Takes the stack down also when this task panics; after an orderly end there is nothing left to do.
struct Down(Stack);

impl Drop for Down {
    fn drop(&mut self) {
        let _ = self.0.down();
    }
}

fn test_on(
    stack: &Stack,
    steps: &mut Steps,
    options: &Options,
    total: &mut Total,
    interrupt: &Interrupt,
) -> Result<()> {
    for Missing { part, why } in stack.missing() {
        steps.leave_out(part.suites(), &format!("{why:#}"));
    }
    let is_whole = stack.missing().is_empty();
    if !is_whole && std::env::var("CI").is_ok_and(|value| value == "true") {
        bail!("with CI=true every suite must run, and some servers could not be had");
    }
    let mut command = test_command(options);
    command.envs(stack.environment());
    if is_whole {
        command.env(STACK, "1");
    } else {
        command.env_remove(STACK);
    }
    let tested = steps.run("tests", || run_in_group(&mut command, options, total, interrupt));
    for Missing { part, .. } in stack.missing() {
        // Once more at the end, where it is seen.
        eprintln!("\nLEFT OUT: {}", part.suites());
    }
    tested
}

/// Runs the tests in a process group of their own, which an interrupt ends as a whole.
fn run_in_group(command: &mut Command, options: &Options, total: &mut Total, interrupt: &Interrupt) -> Result<()> {
    interrupt.check()?;
    let mut child = start(command.process_group(0))?;
    let group = child.id();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| end_when_interrupted(group, interrupt, &done));
        let tested = follow(command, &mut child, options, total);
        if let Ok(None) = child.try_wait() {
            // Nobody reads their output any more, and they would outlive their servers.
            stack::end(&mut child, Ending::AtOnce);
        }
        done.store(true, Ordering::Release);
        interrupt.check()?;
        tested
    })
}

fn end_when_interrupted(group: u32, interrupt: &Interrupt, done: &AtomicBool) {
    let look = Duration::from_millis(LOOK_MS);
    while interrupt.pause(look).is_ok() {
        if done.load(Ordering::Acquire) {
            return;
        }
    }
    stack::signal_group(group, Signal::TERM);
    let until = Instant::now() + Duration::from_secs(END_S);
    while !done.load(Ordering::Acquire) {
        if Instant::now() >= until {
            // What still holds their output open would keep us waiting for ever.
            stack::signal_group(group, Signal::KILL);
            return;
        }
        std::thread::park_timeout(look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Tests chosen by name may be none, so that a shell can stand for them without a line that counts.
    fn options() -> Options {
        Options { for_tests: vec!["chosen".into()], ..Options::default() }
    }

    #[test]
    fn an_interrupt_ends_the_tests_and_what_they_started() {
        let interrupt = Interrupt::default();
        let begun = std::env::temp_dir().join(format!("madang-begun-{}", std::process::id()));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let until = Instant::now() + Duration::from_secs(60);
                while !begun.exists() && Instant::now() < until {
                    std::thread::yield_now();
                }
                interrupt.raise();
            });
            // The inner shell stands for a server that a test started: it holds the output open.
            let mut command = shell(&format!("sh -c 'touch {}; sleep 600' & sleep 600", begun.display()));
            let error = run_in_group(&mut command, &options(), &mut Total::default(), &interrupt).unwrap_err();
            assert!(error.is::<crate::interrupt::Interrupted>(), "{error}");
        });
        std::fs::remove_file(begun).unwrap();
    }

    #[test]
    fn without_an_interrupt_the_tests_decide() {
        let end = |script| run_in_group(&mut shell(script), &options(), &mut Total::default(), &Interrupt::default());
        end("exit 0").unwrap();
        assert!(format!("{:#}", end("exit 3").unwrap_err()).contains("exit status: 3"));
    }
}
