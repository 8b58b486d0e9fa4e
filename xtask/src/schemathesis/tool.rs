//! schemathesis itself: in a Python environment of its own, outside the repository, with every version pinned.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace;

/// What must be installed.
const REQUIREMENTS: &str = include_str!("../../schemathesis/requirements.txt");
/// Written last, with what was installed.
const DONE: &str = "installed.txt";

/// schemathesis, ready to run.
pub(super) struct Tool {
    environment: PathBuf,
}

impl Tool {
    /// The program.
    pub(super) fn program(&self) -> PathBuf {
        self.environment.join("bin/schemathesis")
    }
}

/// Installs what is not there yet.
pub(super) fn ready() -> Result<Tool> {
    let environment = cache()?.join("madang").join("schemathesis");
    let tool = Tool { environment };
    let done = tool.environment.join(DONE);
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == REQUIREMENTS) && tool.program().exists() {
        return Ok(tool);
    }
    install(&tool.environment)?;
    std::fs::write(&done, REQUIREMENTS).with_context(|| format!("could not write {}", done.display()))?;
    Ok(tool)
}

/// Where programs keep what they can make again.
fn cache() -> Result<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    named.or_else(home).context("neither XDG_CACHE_HOME nor HOME says where to keep schemathesis")
}

fn install(environment: &Path) -> Result<()> {
    eprintln!("installing schemathesis in {}", environment.display());
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment).stdin(Stdio::null()).status();
    match made {
        Ok(status) if status.success() => {}
        Ok(status) => bail!("`python3 -m venv` failed ({status}); Debian has it in python3-venv"),
        Err(error) => bail!("python3 cannot be started: {error}"),
    }
    let requirements = workspace::root().join("xtask/schemathesis/requirements.txt");
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    let status = pip.stdin(Stdio::null()).status().context("pip cannot be started")?;
    if !status.success() {
        bail!("pip could not install schemathesis ({status})");
    }
    Ok(())
}
