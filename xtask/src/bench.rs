//! `cargo xtask bench`: starts the bench in a release build; what it measures is its own business.

use anyhow::Result;

use crate::workspace;

/// Measures the product beside the limits it is compared with, in one run (release build).
///
/// Builds the bench and `madang` in release, then runs the bench. `cargo xtask bench --help` shows its own options.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Bench {
    /// Handed on to the bench.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) for_the_bench: Vec<String>,
}

impl Bench {
    /// Builds and runs the bench, which builds the product itself.
    pub(crate) fn run(&self) -> Result<()> {
        let mut bench = workspace::cargo();
        bench.args(["run", "--release", "--package", "madang-bench", "--"]).args(&self.for_the_bench);
        workspace::run(&mut bench)
    }
}
