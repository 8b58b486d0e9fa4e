//! A Debian that is booted by systemd-nspawn: its own processes, its own network of a loopback alone, the real systemd.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::network::{Network, Said, with_input};
use crate::interrupt::Interrupt;
use crate::program;

/// How long systemd may take to start what it starts.
const BOOT_MAX: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(200);

/// A booted Debian; it ends with this.
pub(super) struct Container {
    nspawn: Child,
    /// Its systemd, as a process of ours.
    init: u32,
    log: PathBuf,
}

impl Container {
    /// Boots the Debian in a folder and waits until systemd has started everything.
    pub(super) fn boot(root: &Path, interrupt: &Interrupt) -> Result<Self> {
        let log = crate::workspace::target().join("nspawn.log");
        let _ = std::fs::remove_file(&log);
        let mut command = Command::new(program::get("systemd-nspawn")?);
        // No service of the host is told of it: there need not be one.
        command.args(["--quiet", "--register=no", "--keep-unit", "--private-network", "--console=pipe", "--boot"]);
        command.arg("--directory").arg(root);
        let nspawn = program::spawn(&mut command, &log)?;
        let mut container = Self { nspawn, init: 0, log };
        container.wait(BOOT_MAX, "systemd to run", interrupt, |container| {
            container.init = container.systemd().unwrap_or_default();
            Ok(container.init != 0)
        })?;
        container.wait(BOOT_MAX, "the start to be over", interrupt, |container| {
            let state = container.run("systemctl is-system-running")?.text;
            Ok(state.starts_with("running") || state.starts_with("degraded"))
        })?;
        Ok(container)
    }

    /// The first process of the Debian: the child of systemd-nspawn that is called systemd.
    fn systemd(&self) -> Option<u32> {
        let id = self.nspawn.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
        children.split_whitespace().filter_map(|child| child.parse().ok()).find(|child: &u32| {
            std::fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name.trim() == "systemd")
        })
    }

    /// Waits until something holds.
    pub(super) fn wait(
        &mut self,
        limit: Duration,
        what: &str,
        interrupt: &Interrupt,
        mut holds: impl FnMut(&mut Self) -> Result<bool>,
    ) -> Result<()> {
        let until = Instant::now() + limit;
        loop {
            if holds(self)? {
                return Ok(());
            }
            ensure!(
                Instant::now() < until && self.nspawn.try_wait()?.is_none(),
                "waited {} s for {what}:\n{}",
                limit.as_secs(),
                program::tail(&self.log)
            );
            interrupt.pause(POLL)?;
        }
    }

    /// Runs a line of shell in it, as its root.
    pub(super) fn run(&self, line: &str) -> Result<Said> {
        self.run_with(line, "")
    }

    /// The same with an input.
    pub(super) fn run_with(&self, line: &str, input: &str) -> Result<Said> {
        let mut command = Command::new("nsenter");
        command.args([
            "--target",
            &self.init.to_string(),
            "--mount",
            "--uts",
            "--ipc",
            "--net",
            "--pid",
            "--root",
            "--wd",
        ]);
        command.args(["/bin/sh", "-c", &format!("{{ {line}\n}} 2>&1")]).env_clear();
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive");
        with_input(&mut command, input)
    }

    /// Runs a line that must succeed, and tells what it said.
    pub(super) fn must(&self, line: &str) -> Result<String> {
        let said = self.run(line)?;
        if !said.ok {
            bail!("`{line}` failed in the fresh Debian:\n{}", said.text);
        }
        Ok(said.text)
    }

    /// Its network.
    pub(super) fn network(&self) -> Network {
        Network::of(self.init)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // The order to power off; what does not follow it is killed with its systemd.
        let _ = self.run("systemctl poweroff --force --force");
        let until = Instant::now() + Duration::from_secs(10);
        while matches!(self.nspawn.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::park_timeout(POLL);
        }
        let _ = self.nspawn.kill();
        let _ = self.nspawn.wait();
    }
}
