//! `cargo xtask lint`: everything that reads the code without running it.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::steps::Steps;
use crate::{tidy, workspace};

/// Formatting, tidy, Clippy without warnings, and cargo-deny where it is installed.
///
/// Runs these, and stops at the first that fails:
///   fmt      cargo fmt --all --check
///   tidy     the rules a compiler does not know (cargo xtask help tidy)
///   clippy   cargo clippy --workspace --all-targets -- -D warnings
///   casts    the same on libraries and programs, where a cast must not change a number: use `try_from` and `from`, or say
///            at the place why it cannot
///   deny     cargo deny check bans licenses sources; where cargo-deny is not installed, a notice says how to get it
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Lint {}

/// Casts that may change a number. `cast_precision_loss` is not among them: counts become `f64` for metrics and ratios, where
/// the last digits of more than 2^53 do not matter. Tests cast numbers of their own.
const CASTS: [&str; 4] = ["cast_possible_truncation", "cast_possible_wrap", "cast_sign_loss", "cast_lossless"];

/// Runs every check, the quick ones first.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::of("lint");
    let outcome = run_steps(&mut steps);
    steps.summarize();
    outcome
}

fn run_steps(steps: &mut Steps) -> Result<()> {
    let cargo = |args: &[&str]| workspace::run(workspace::cargo().args(args));
    steps.run("fmt", || cargo(&["fmt", "--all", "--check"]).context("`cargo fmt --all` puts it right"))?;
    steps.run("tidy", tidy::check)?;
    steps.run("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    steps.run("casts", || {
        let lints = CASTS.map(|lint| format!("-Dclippy::{lint}"));
        workspace::run(
            workspace::cargo().args(["clippy", "--workspace", "--lib", "--bins", "--locked", "--"]).args(lints),
        )
    })?;
    if deny_is_installed() {
        steps.run("deny", || cargo(&["deny", "check", "bans", "licenses", "sources"]))?;
    } else {
        // It is a separate download, so its absence is a notice even in CI; what it guards changes with Cargo.lock only.
        eprintln!("\nlint: deny was not run; get it with `cargo install --locked cargo-deny`");
    }
    Ok(())
}

fn deny_is_installed() -> bool {
    let mut deny = workspace::cargo();
    deny.args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    deny.status().is_ok_and(|status| status.success())
}
