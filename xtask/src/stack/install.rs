//! Gets what is missing from Debian's packages, where we may; says what to install where we may not.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};

use super::part::{Need, Part};
use super::up::Up;
use crate::interrupt::Interrupt;
use crate::program;

/// How long a package may take to arrive and unpack.
const INSTALL_MAX: Duration = Duration::from_secs(900);
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
    pub(crate) fn ensure(&self, part: Part, up: &Up<'_>) -> Result<()> {
        if missing(part.needs()).is_empty() {
            return Ok(());
        }
        let mut fresh = self.lists_are_fresh.lock().unwrap_or_else(PoisonError::into_inner);
        // Another part may have brought them while this one waited.
        let missing = missing(part.needs());
        if missing.is_empty() {
            return Ok(());
        }
        up.interrupt.check()?;
        install(&missing, &mut fresh, &up.dir.join("apt.log"), |what| up.say(part.name(), what))
    }
}

/// Makes sure that every command is there, for a task that needs no stack.
pub(crate) fn ensure(needs: &[Need], log: &Path) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing, &mut false, log, |what| eprintln!("{what}"))
}

fn install(missing: &[Need], lists_are_fresh: &mut bool, log: &Path, say: impl Fn(&str)) -> Result<()> {
    let mut packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    let commands = missing.iter().map(|(command, _)| format!("`{command}`")).collect::<Vec<_>>().join(", ");
    if program::find("apt-get").is_none() || !rustix::process::getuid().is_root() {
        bail!("{commands}: not installed; as root on Debian: apt-get install {}", packages.join(" "));
    }
    let _policy = NoServices::begin();
    if !*lists_are_fresh {
        say("bringing the lists of packages up to date");
        apt(&["update"], log)?;
        *lists_are_fresh = true;
    }
    say(&format!("installing {}", packages.join(" ")));
    apt(&[&["install", "--yes", "--no-install-recommends"], &packages[..]].concat(), log)
}

/// The commands of these that are not there.
fn missing(needs: &[Need]) -> Vec<Need> {
    needs.iter().copied().filter(|(command, _)| program::find(command).is_none()).collect()
}

/// Changes the machine, so Ctrl-C takes effect only when it has ended.
fn apt(args: &[&str], log: &Path) -> Result<()> {
    let mut command = Command::new(program::get("apt-get")?);
    command.args(["--option", "DPkg::Lock::Timeout=300"]).args(args).env("DEBIAN_FRONTEND", "noninteractive");
    program::run(&mut command, log, INSTALL_MAX, &Interrupt::default())
}

/// Keeps Debian from starting the services it installs: the stack starts servers of its own, and only those. Where a policy
/// is there already it is somebody's decision, and stays.
struct NoServices {
    is_ours: bool,
}

impl NoServices {
    fn begin() -> Self {
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(POLICY);
        let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, b"#!/bin/sh\nexit 101\n"));
        Self { is_ours: written.is_ok() }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.is_ours {
            let _ = std::fs::remove_file(POLICY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_commands_are_installed() {
        let needs = [("sh", "dash"), ("no-such-command", "no-such-package")];
        assert_eq!(missing(&needs), needs[1..]);
    }
}
