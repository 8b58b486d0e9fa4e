//! What a run came to: tests counted over all programs, what was left out, and which programs took longest.

use std::time::Duration;

use super::runner::Ended;

/// Programs that the table of the slowest names.
const SLOWEST_SHOWN: usize = 12;

/// The sum of a run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Summary {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Every test that failed, and every program that failed without naming one.
    pub(super) failures: Vec<String>,
    /// What `--no-stack` did not run.
    pub(super) left_out: Vec<String>,
    /// How long each program took.
    pub(super) took: Vec<(Duration, String)>,
}

impl Summary {
    /// Takes in a program that has ended.
    pub(super) fn add(&mut self, ended: &Ended) {
        ended.output.lines().for_each(|line| self.add_line(line));
        let tests = failed_tests(&ended.output);
        if tests.is_empty() && !ended.status.success() {
            self.failures.push(format!("{} ({})", ended.name, ended.status));
        }
        self.failures.extend(tests.iter().map(|test| format!("{}: {test}", ended.name)));
        self.took.push((ended.took, ended.name.clone()));
    }

    /// Only `test result: ok. 5 passed; 1 failed; …` counts.
    fn add_line(&mut self, line: &str) {
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

    /// The programs that took longest, the longest first.
    pub(super) fn slowest(&self) -> String {
        let mut took = self.took.clone();
        took.sort_unstable_by(|a, b| b.cmp(a));
        let lines = took.iter().take(SLOWEST_SHOWN);
        let lines = lines.map(|(took, name)| format!("  {:>8.1} s  {name}\n", took.as_secs_f64()));
        lines.collect()
    }
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
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn ended(name: &str, seconds: u64, output: &str) -> Ended {
        let (status, took) = (ExitStatus::from_raw(0), Duration::from_secs(seconds));
        Ended { name: name.into(), status, output: output.into(), took }
    }

    #[test]
    fn results_of_all_programs_are_summed_and_the_slowest_comes_first() {
        let mut summary = Summary::default();
        summary.add(&ended(
            "a",
            1,
            "running 3 tests\ntest a_name_with_5_passed ... ok\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ));
        summary.add(&ended("b", 2, "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out"));
        assert_eq!((summary.passed, summary.failed), (15, 2));
        let slowest = summary.slowest();
        assert!(slowest.find(" b\n") < slowest.find(" a\n"), "{slowest}");
    }

    #[test]
    fn failures_are_named_also_when_other_lines_came_between_or_no_test_is_named() {
        let mut summary = Summary::default();
        let output = "test a::b ... FAILED\ntest a::c ... ok\ntest a::d ... some output\nFAILED\n\nfailures:\n\n\
                      ---- a::b stdout ----\n    at a.rs\n\n\nfailures:\n    a::b\n    a::d\n\ntest result: FAILED.";
        summary.add(&ended("p", 1, output));
        summary.add(&Ended { status: ExitStatus::from_raw(9), ..ended("q", 1, "running 1 test\n") });
        assert_eq!(summary.failures, ["p: a::b", "p: a::d", "q (signal: 9 (SIGKILL))"]);
    }
}
