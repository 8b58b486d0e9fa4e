//! schemathesis itself: in a Python environment of its own, outside the repository, with every version pinned.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace;

/// What must be installed.
const REQUIREMENTS: &str = include_str!("../../schemathesis/requirements.txt");

/// The program; installs what is not there yet.
pub(super) fn ready() -> Result<PathBuf> {
    let environment = workspace::cache()?.join("schemathesis");
    let program = environment.join("bin/schemathesis");
    // Written last, with what was installed.
    let done = environment.join("installed.txt");
    if !std::fs::read_to_string(&done).is_ok_and(|installed| installed == REQUIREMENTS) || !program.exists() {
        eprintln!("installing schemathesis in {}", environment.display());
        install(&environment).context("schemathesis cannot be installed; Debian has venv in python3-venv")?;
        std::fs::write(&done, REQUIREMENTS).with_context(|| format!("could not write {}", done.display()))?;
    }
    Ok(program)
}

fn install(environment: &Path) -> Result<()> {
    workspace::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))?;
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    workspace::run(pip.arg(workspace::root().join("xtask/schemathesis/requirements.txt")))
}
