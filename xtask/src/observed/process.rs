//! A process of the site: the real binary, started, killed and started again at the same addresses.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::load::{ADMINISTRATOR, PASSWORD};
use crate::{http, program, workspace};

/// How long it may take to listen.
const START_MAX: Duration = Duration::from_secs(90);
/// How often it is asked meanwhile.
const POLL: Duration = Duration::from_millis(100);

/// Where the binary is.
pub(super) fn binary() -> PathBuf {
    workspace::target().join("debug/madang")
}

/// One process; it is killed with this.
pub(crate) struct Process {
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
    port: u16,
    operations_port: u16,
    log: PathBuf,
    child: Mutex<Option<Child>>,
}

impl Process {
    /// A process that does not run yet.
    pub(super) fn named(name: &str, dir: &Path, port: u16, operations_port: u16) -> Self {
        let arguments = ["serve", "--listen", &format!("127.0.0.1:{port}"), "--set"];
        let mut arguments: Vec<String> = arguments.map(str::to_owned).to_vec();
        arguments.push(format!("operations_listen=127.0.0.1:{operations_port}"));
        let environment =
            vec![("MADANG_ADMIN_NAME", ADMINISTRATOR.to_owned()), ("MADANG_ADMIN_PASSWORD", PASSWORD.to_owned())];
        let log = dir.join(format!("{name}.log"));
        Self { arguments, environment, port, operations_port, log, child: Mutex::new(None) }
    }

    /// The same with these settings.
    pub(super) fn with(mut self, settings: &[&str]) -> Self {
        self.arguments.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]));
        self
    }

    /// The same with an argument that names a file.
    pub(super) fn argument(mut self, name: &str, path: &Path) -> Self {
        self.arguments.extend([name.to_owned(), path.display().to_string()]);
        self
    }

    /// The same with these variables.
    pub(super) fn environment(mut self, variables: &[(&'static str, String)]) -> Self {
        self.environment.extend_from_slice(variables);
        self
    }

    /// Starts it, and waits until it is alive.
    pub(crate) fn start(&self) -> Result<()> {
        let mut command = Command::new(binary());
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        let mut child = program::spawn(&mut command, &self.log)?;
        let until = Instant::now() + START_MAX;
        loop {
            if http::get(&self.operations(), "/healthz").is_ok_and(|answer| answer.status == 200) {
                *self.child() = Some(child);
                return Ok(());
            }
            if child.try_wait()?.is_some() || Instant::now() > until {
                let _ = child.kill();
                bail!("a process of the site did not start:\n{}", program::tail(&self.log));
            }
            std::thread::park_timeout(POLL);
        }
    }

    /// Kills it, and waits for its end.
    pub(crate) fn kill(&self) -> Result<()> {
        if let Some(mut child) = self.child().take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child().as_ref().map(Child::id).context("it does not run")?;
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("no process id")?;
        Ok(kill_process(pid, signal)?)
    }

    /// Where people ask it.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where operators ask it.
    pub(crate) fn operations(&self) -> String {
        format!("127.0.0.1:{}", self.operations_port)
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
