//! `cargo xtask sim`: starts the simulation in a release build; what it plays is its own business.

use anyhow::Result;

use crate::workspace;

/// Plays seeds of the simulation on every core (release build).
///
/// `cargo xtask sim --seeds 1000000` plays a million and prints the bound; a failing seed prints the command that plays it
/// again. `cargo xtask sim --help` shows the rest.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Sim {
    /// Handed on to the simulation.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) for_the_simulation: Vec<String>,
}

impl Sim {
    /// Builds and runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let mut sim = workspace::cargo();
        sim.args(["run", "--quiet", "--release", "--package", "madang-sim", "--"]).args(&self.for_the_simulation);
        workspace::run(&mut sim)
    }
}
