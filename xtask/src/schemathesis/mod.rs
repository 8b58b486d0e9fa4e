//! `cargo xtask schemathesis`: thousands of requests made from the OpenAPI description, right and wrong ones, against the
//! real binary. The answer to each must be one that the description tells of.

mod tool;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::site::Site;
use crate::workspace;

/// Requests for each call, beside those that cover every boundary of its parameters.
const EXAMPLES: u32 = 15;
/// The seed of the tests.
const SEED: u64 = 20_240_101;
/// Ends the session it is asked with, so it has a run of its own.
const SIGN_OUT: &str = "sign_out";

/// The HTTP contract against a live server, by schemathesis (PyPI).
///
/// Builds and starts the embedded server on a scratch directory, limits off, and sends it requests generated from
/// /openapi.json: as a guest, as a member and as an administrator. Every check is on; xtask/schemathesis/schemathesis.toml
/// names the few answers that a schema cannot foresee.
///
/// The first run makes a Python environment with pinned versions below the cache directory of the user. Part of
/// `cargo xtask test`, but for --no-stack.
#[derive(clap::Args)]
pub(crate) struct Schemathesis {
    /// Other requests than usual; the seed of the tests is fixed, so that they mean the same every time.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
}

impl Schemathesis {
    /// Builds the binary and runs it all.
    pub(crate) fn run(&self) -> Result<()> {
        workspace::run(workspace::cargo().args(["build", "-p", "madang"]))?;
        check(&tool::ready()?, self.seed)
    }
}

/// The part of `cargo xtask test`; the binary is built.
pub(crate) fn step() -> Result<()> {
    check(&tool::ready().context("--no-stack leaves this check out")?, SEED)
}

fn check(tool: &Path, seed: u64) -> Result<()> {
    let site = Site::start()?;
    let (member, leaver) = (site.member("contract_member")?, site.member("contract_leaver")?);
    let all_but = ["--exclude-operation-id", SIGN_OUT];
    ask(tool, &site, seed, "an administrator", Some(&site.administrator()?), &all_but)?;
    ask(tool, &site, seed, "a member", Some(&member), &all_but)?;
    ask(tool, &site, seed, "a guest", None, &[])?;
    ask(tool, &site, seed, "somebody who signs out", Some(&leaver), &["--include-operation-id", SIGN_OUT])
}

fn ask(tool: &Path, site: &Site, seed: u64, who: &str, token: Option<&str>, which: &[&str]) -> Result<()> {
    eprintln!("\nasked by {who}:");
    let files = workspace::root().join("xtask/schemathesis");
    let mut command = Command::new(tool);
    command.arg("--config-file").arg(files.join("schemathesis.toml")).arg("run").arg(site.description_url());
    command.args(["--checks", "all", "--workers", "1", "--continue-on-failure", "--no-shrink"]);
    // How fast texts are made up for a pattern says something about the machine only.
    command.args(["--suppress-health-check", "too_slow"]);
    command.args(["--max-examples", &EXAMPLES.to_string(), "--seed", &seed.to_string()]).args(which);
    if let Some(token) = token {
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
    }
    // Its report folder and example database would end up in the repository.
    command.current_dir(site.scratch()).env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", &files);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("NO_COLOR", "1");
    let status = command.status().context("could not start schemathesis")?;
    if !status.success() {
        bail!("what the server does and what it says it does differ when {who} asks (see above)");
    }
    site.is_alive()
}
