//! Gets what is missing from Debian's packages, where we may; says what to install where we may not.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};

use super::part::{Need, Part};
use super::programs::{self, Ending};
use super::{place, site::Site};

/// How long a package may take to arrive and unpack.
const INSTALL_LIMIT_S: u64 = 900;
/// Asked by Debian before a freshly installed service is started.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Installs packages, one command at a time; the parts of the stack share one.
#[derive(Default)]
pub(crate) struct Installer {
    /// Whether the lists of packages were brought up to date in this run.
    lists_are_fresh: Mutex<bool>,
}

impl Installer {
    /// Makes sure that every command of a part is there.
    pub(crate) fn ensure(&self, part: Part, site: &Site<'_>) -> Result<()> {
        if missing(part.needs()).is_empty() {
            return Ok(());
        }
        let mut fresh = self.lists_are_fresh.lock().unwrap_or_else(PoisonError::into_inner);
        // Another part may have brought them while this one waited.
        let missing = missing(part.needs());
        if missing.is_empty() {
            return Ok(());
        }
        let packages = packages(&missing);
        may_install(&missing, &packages)?;
        let log = site.dir().join("apt.log");
        let _quiet = NoServices::begin();
        if !*fresh {
            site.say(part.name(), "bringing the lists of packages up to date");
            apt(&["update"], &log, site)?;
            *fresh = true;
        }
        site.say(part.name(), &format!("installing {}", packages.join(" ")));
        let mut args = vec!["install", "--yes", "--no-install-recommends"];
        args.extend(&packages);
        apt(&args, &log, site)
    }
}

/// The commands of these that are not there.
fn missing(needs: &[Need]) -> Vec<Need> {
    needs.iter().copied().filter(|need| programs::find(need.command).is_none()).collect()
}

/// The packages of these, each once.
fn packages(needs: &[Need]) -> Vec<&'static str> {
    let mut packages: Vec<_> = needs.iter().map(|need| need.package).collect();
    packages.dedup();
    packages
}

fn may_install(missing: &[Need], packages: &[&str]) -> Result<()> {
    let commands: Vec<_> = missing.iter().map(|need| format!("`{}`", need.command)).collect();
    let commands = commands.join(", ");
    if programs::find("apt-get").is_none() {
        bail!("{commands}: not installed, and there is no apt-get here; Debian has it in {}", packages.join(", "));
    }
    if place::user_id() != 0 {
        bail!("{commands}: not installed; as root: apt-get install {}", packages.join(" "));
    }
    Ok(())
}

fn apt(args: &[&str], log: &Path, site: &Site<'_>) -> Result<()> {
    let mut command = Command::new(programs::get("apt-get")?);
    command.args(["--option", "DPkg::Lock::Timeout=300"]).args(args).env("DEBIAN_FRONTEND", "noninteractive");
    let limit = Duration::from_secs(INSTALL_LIMIT_S);
    programs::run_ending(&mut command, log, limit, site.interrupt(), Ending::WhenSafe)
}

/// Keeps Debian from starting the services it installs: the stack starts servers of its own, and only those.
struct NoServices {
    ours: Option<PathBuf>,
}

impl NoServices {
    fn begin() -> Self {
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o755).open(POLICY);
        // Where a policy is there already it is somebody's decision, and stays.
        let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, b"#!/bin/sh\nexit 101\n"));
        Self { ours: written.is_ok().then(|| POLICY.into()) }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if let Some(policy) = &self.ours {
            let _ = std::fs::remove_file(policy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_commands_ask_for_packages_and_each_once() {
        let needs = [
            Need { command: "sh", package: "dash" },
            Need { command: "no-such-command-1", package: "no-such-package" },
            Need { command: "no-such-command-2", package: "no-such-package" },
        ];
        let missing = missing(&needs);
        assert_eq!(missing, needs[1..]);
        assert_eq!(packages(&missing), ["no-such-package"]);
    }
}
