//! `cargo xtask lint`: everything that reads the code without running it.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::steps::Steps;
use crate::{tidy, workspace};

pub(crate) const HELP: &str = "\
Everything that reads the code without running it.

Usage: cargo xtask lint

Runs, and stops at the first that fails:
  fmt      cargo fmt --all --check
  tidy     the rules a compiler does not know (cargo xtask help tidy)
  clippy   cargo clippy --workspace --all-targets -- -D warnings
  deny     cargo deny check bans licenses sources, where cargo-deny is installed
           (cargo install --locked cargo-deny); left out with a notice where it is not
";

/// Runs every check, the quick ones first.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::of("lint");
    let outcome = run_steps(&mut steps);
    steps.summarize();
    outcome
}

fn run_steps(steps: &mut Steps) -> Result<()> {
    steps.run("fmt", || {
        let check = workspace::run(workspace::cargo().args(["fmt", "--all", "--check"]));
        check.context("`cargo fmt --all` puts it right")
    })?;
    steps.run("tidy", tidy::check)?;
    steps.run("clippy", || {
        let args = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        workspace::run(workspace::cargo().args(args))
    })?;
    if deny_is_installed() {
        steps.run("deny", || {
            workspace::run(workspace::cargo().args(["deny", "check", "bans", "licenses", "sources"]))
        })?;
    } else {
        // It is a separate download, so its absence is a notice even in CI; what it guards changes with Cargo.lock only.
        steps.leave_out("deny", "get it with `cargo install --locked cargo-deny`");
    }
    Ok(())
}

fn deny_is_installed() -> bool {
    let mut deny = workspace::cargo();
    deny.args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    deny.status().is_ok_and(|status| status.success())
}
