//! Programs in Python: each in an environment of its own, outside the repository, with every version pinned.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace;

/// A program of the environment of that name; installs what is required and not there yet.
pub(crate) fn program(environment: &str, requirements: &str, program: &str) -> Result<PathBuf> {
    let folder = workspace::cache()?.join(environment);
    let program = folder.join("bin").join(program);
    // Written last, with what was installed.
    let done = folder.join("installed.txt");
    if !std::fs::read_to_string(&done).is_ok_and(|installed| installed == requirements) || !program.exists() {
        eprintln!("installing the Python environment {}", folder.display());
        install(&folder, requirements)
            .with_context(|| format!("{environment} cannot be installed; Debian has venv in python3-venv"))?;
        std::fs::write(&done, requirements).with_context(|| format!("could not write {}", done.display()))?;
    }
    Ok(program)
}

fn install(environment: &Path, requirements: &str) -> Result<()> {
    workspace::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))?;
    let list = environment.join("requirements.txt");
    std::fs::write(&list, requirements).with_context(|| format!("could not write {}", list.display()))?;
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(list);
    workspace::run(&mut pip)
}
