//! Runs tests that failed once more, by themselves: machines stumble, and one that stumbles must not keep a whole change from
//! landing. What passes only then is told apart from what passes.

use anyhow::{Result, bail};

use super::crew::{self, Ended, Job};
use super::total::Total;
use crate::interrupt::Interrupt;

/// More failures than these are no stumble.
const FAILED_MAX: usize = 5;

/// A program of which tests failed.
pub(super) struct Failed {
    pub(super) name: String,
    /// The tests; none when it ended otherwise.
    pub(super) tests: Vec<String>,
}

impl Failed {
    /// What failed of a program that has ended, if anything did.
    pub(super) fn of(ended: &Ended) -> Option<Self> {
        let tests = failed_tests(&ended.output);
        (!ended.status.success() || !tests.is_empty()).then(|| Self { name: ended.name.clone(), tests })
    }
}

/// Runs what failed again; fails if any of it does. `job` makes the program of a name anew.
pub(super) fn run(
    failed: &[Failed],
    job: impl Fn(&str) -> Option<Job>,
    interrupt: &Interrupt,
    total: &mut Total,
) -> Result<()> {
    let names: Vec<&String> = failed.iter().flat_map(|program| &program.tests).collect();
    let broken: Vec<&str> = failed.iter().filter(|program| program.tests.is_empty()).map(|p| p.name.as_str()).collect();
    if !broken.is_empty() {
        bail!("ended otherwise than by its tests: {}", broken.join(", "));
    }
    if names.len() > FAILED_MAX {
        bail!("{} of {} tests failed", total.failed, total.passed + total.failed);
    }
    for program in failed {
        let Some(mut job) = job(&program.name) else { bail!("{} cannot be run again by itself", program.name) };
        println!("\nonce more, by themselves: {}: {}", program.name, program.tests.join(", "));
        job.command.args(["--exact", "--test-threads=1"]).args(&program.tests);
        let mut again = Total::default();
        crew::run(vec![job], 1, interrupt, |ended| {
            print!("{}", ended.output);
            again.add(ended);
        })?;
        if again.failed > 0 || again.passed < program.tests.len() as u64 {
            bail!("failed, also when run again: {}: {}", program.name, program.tests.join(", "));
        }
        let count = program.tests.len() as u64;
        (total.passed, total.failed) = (total.passed + count, total.failed.saturating_sub(count));
        total.unsteady.extend(program.tests.iter().map(|test| format!("{}: {test}", program.name)));
    }
    Ok(())
}

/// The names in `test NAME ... FAILED`, and in the list of failures where other output came between.
fn failed_tests(output: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut is_list = false;
    for line in output.lines() {
        let in_line = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"));
        is_list = line == "failures:" || (is_list && line.starts_with("    "));
        let in_list = line.strip_prefix("    ").filter(|name| is_list && !name.contains(' '));
        names.extend(in_line.or(in_list).map(str::to_owned));
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn shell(script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: "p".into(), command }
    }

    fn failed(tests: &[&str]) -> Vec<Failed> {
        vec![Failed { name: "p".into(), tests: tests.iter().map(ToString::to_string).collect() }]
    }

    #[test]
    fn what_failed_is_found_in_the_output_also_when_other_lines_came_between() {
        let output = "test a::b ... FAILED\ntest a::c ... ok\ntest a::d ... some output\nFAILED\n\nfailures:\n\n\
                      ---- a::b stdout ----\n    at a.rs\n\n\nfailures:\n    a::b\n    a::d\n\ntest result: FAILED.";
        assert_eq!(failed_tests(output), ["a::b", "a::d"]);
    }

    #[test]
    fn what_passes_by_itself_is_unsteady_and_what_fails_again_is_a_failure() {
        let total = || Total { passed: 9, failed: 1, ..Total::default() };
        let passes = |_: &str| Some(shell("echo 'test result: ok. 1 passed; 0 failed; 0 ignored'"));
        let mut steady = total();
        run(&failed(&["a"]), passes, &Interrupt::default(), &mut steady).unwrap();
        assert_eq!((steady.passed, steady.failed, steady.unsteady), (10, 0, vec!["p: a".to_owned()]));
        let fails = |_: &str| Some(shell("echo 'test result: FAILED. 0 passed; 1 failed'; exit 101"));
        assert!(run(&failed(&["a"]), fails, &Interrupt::default(), &mut total()).is_err());
    }

    #[test]
    fn what_cannot_be_told_apart_or_is_too_much_stays_failed() {
        let never = |_: &str| -> Option<Job> { panic!("run again") };
        let mut total = Total { passed: 9, failed: 1, ..Total::default() };
        assert!(run(&failed(&[]), never, &Interrupt::default(), &mut total).is_err(), "no test is named");
        let many = ["a", "b", "c", "d", "e", "f"];
        assert!(run(&failed(&many), never, &Interrupt::default(), &mut total).is_err(), "too many");
        assert_eq!((total.passed, total.failed), (9, 1));
    }
}
