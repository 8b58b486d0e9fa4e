//! Runs tests that failed once more, each program by itself: machines stumble, and one that stumbles must not keep a whole
//! change from landing. What passes only then is told apart from what passes.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Total;
use crate::workspace;

/// More failures than these are no stumble.
const FAILED_MAX: usize = 5;

/// Runs what failed again; fails if any of it does. `seen` and `told` are what `cargo test` printed.
pub(super) fn run(first: &Command, seen: &[String], told: &[String], total: &mut Total) -> Result<()> {
    let tests = total.passed + total.failed;
    let (names, programs) = (failed_tests(seen), failed_programs(told));
    if names.is_empty() || names.len() > FAILED_MAX || programs.is_empty() {
        bail!("{} of {tests} tests failed", total.failed);
    }
    for program in &programs {
        println!("\nonce more, by itself: cargo test {}", program.join(" "));
        let mut command = workspace::cargo();
        command.arg("test").args(program).args(["--", "--exact", "--test-threads=1"]).args(&names);
        command.envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.stdout(Stdio::piped()).output().context("could not start `cargo test`")?;
        let text = String::from_utf8_lossy(&output.stdout);
        print!("{text}");
        let mut again = Total::default();
        text.lines().for_each(|line| again.add(line));
        if !output.status.success() || again.failed > 0 || again.passed == 0 {
            bail!("{} of {tests} tests failed, also when run again: {}", total.failed, names.join(", "));
        }
    }
    total.passed += total.failed;
    total.failed = 0;
    total.failed_before = names;
    Ok(())
}

/// The names in `test NAME ... FAILED`.
fn failed_tests(seen: &[String]) -> Vec<String> {
    let name = |line: &String| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    let mut names: Vec<_> = seen.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The arguments in ``error: test failed, to rerun pass `-p NAME --test NAME` ``.
fn failed_programs(told: &[String]) -> Vec<Vec<String>> {
    let program = |line: &String| {
        let arguments = line.strip_prefix("error: ")?.split_once("to rerun pass `")?.1.strip_suffix('`')?;
        Some(arguments.split(' ').map(str::to_owned).collect())
    };
    told.iter().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_failed_is_found_in_the_output() {
        let seen = lines(&["test a::b ... FAILED", "test a::c ... ok", "test result: FAILED. 1 passed; 1 failed"]);
        assert_eq!(failed_tests(&seen), ["a::b"]);
        let told = lines(&["error: test failed, to rerun pass `-p xtask --bin xtask`", "error: 1 target failed:"]);
        assert_eq!(failed_programs(&told), [["-p", "xtask", "--bin", "xtask"]]);
    }

    #[test]
    fn what_cannot_be_told_apart_or_is_too_much_stays_failed() {
        let mut total = Total { passed: 9, failed: 1, failed_before: Vec::new() };
        let seen = lines(&["test a ... FAILED"]);
        assert!(run(&Command::new("cargo"), &seen, &[], &mut total).is_err(), "no program is named");
        let many: Vec<_> = (0..=FAILED_MAX).map(|number| format!("test t{number} ... FAILED")).collect();
        let told = lines(&["error: test failed, to rerun pass `-p xtask --bin xtask`"]);
        assert!(run(&Command::new("cargo"), &many, &told, &mut total).is_err(), "too many");
        assert_eq!((total.passed, total.failed), (9, 1));
    }
}
