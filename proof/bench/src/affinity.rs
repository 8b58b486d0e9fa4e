//! Server and generator on processors of their own. Where they share all of them, a generator can never ask for much more
//! than is served: whatever it asks with, it takes from the server.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// While it lives, this program keeps to the upper half of the processors; a server is given the lower.
pub(crate) struct SplitCores {
    processors: usize,
}

impl SplitCores {
    /// Moves this program; `None` where there is only one processor.
    pub(crate) fn take() -> Result<Option<Self>> {
        let processors = std::thread::available_parallelism().context("the processors cannot be counted")?.get();
        if processors < 2 {
            return Ok(None);
        }
        keep_to(processors / 2, processors - 1)?;
        Ok(Some(Self { processors }))
    }

    /// The same command on the processors of the server.
    pub(crate) fn server(&self, command: &Command) -> Command {
        let mut pinned = Command::new("taskset");
        pinned.arg("--cpu-list").arg(format!("0-{}", self.processors / 2 - 1));
        pinned.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => pinned.env(name, value),
                None => pinned.env_remove(name),
            };
        }
        pinned
    }
}

impl Drop for SplitCores {
    fn drop(&mut self) {
        if let Err(error) = keep_to(0, self.processors - 1) {
            eprintln!("the rest runs on half of the processors: {error:#}");
        }
    }
}

/// Moves all threads of this program.
fn keep_to(first: usize, last: usize) -> Result<()> {
    let mut taskset = Command::new("taskset");
    taskset
        .args(["--all-tasks", "--cpu-list", "--pid", &format!("{first}-{last}")])
        .arg(std::process::id().to_string());
    let output = taskset.output().context("cannot start taskset (of util-linux)")?;
    ensure!(output.status.success(), "taskset: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}
