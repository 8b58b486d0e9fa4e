//! `cargo xtask bench`: starts the bench in a release build; what it measures is its own business.

use anyhow::Result;

use crate::steps::Steps;
use crate::workspace;

pub(crate) const HELP: &str = "\
Measures the product beside the limits it is compared with, in one run.

Usage: cargo xtask bench [ARGS FOR THE BENCH]

Builds `madang` and the bench in release, then runs the bench. Its own options:
  cargo xtask bench --help
";

/// Builds both binaries, then hands the arguments on.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut steps = Steps::of("bench");
    // The bench starts the real binary as a process of its own, so both must be of the same build.
    steps.run("build", || {
        workspace::run(workspace::cargo().args(["build", "--release", "-p", "madang", "-p", "madang-bench"]))
    })?;
    let mut bench = workspace::cargo();
    bench.args(["run", "--release", "--quiet", "-p", "madang-bench", "--"]).args(args);
    steps.run("measure", || workspace::run(&mut bench))
}
