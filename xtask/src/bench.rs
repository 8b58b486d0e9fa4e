//! `cargo xtask bench`: starts the bench in a release build; what it measures is its own business.

use anyhow::Result;

use crate::steps::Steps;
use crate::workspace;

pub(crate) const HELP: &str = "\
Measures the product beside the limits it is compared with, in one run.

Usage: cargo xtask bench [ARGS FOR THE BENCH]

Builds the bench and `madang` in release, then runs the bench. Its own options:
  cargo xtask bench --help
";

/// Builds and runs the bench, which builds the product itself, and hands the arguments on.
pub(crate) fn run(args: &[String]) -> Result<()> {
    // As with cargo itself, a `--` before the arguments is welcome.
    let args = args.strip_prefix(&["--".to_owned()]).unwrap_or(args);
    let mut bench = workspace::cargo();
    bench.args(["run", "--release", "--package", "madang-bench", "--"]).args(args);
    Steps::of("bench").run("measure", || workspace::run(&mut bench))
}
