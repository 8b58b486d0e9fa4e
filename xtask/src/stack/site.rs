//! What the parts share while they start side by side: the state file, the progress lines and the wish to stop.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::install::Installer;
use super::part::Part;
use super::process::Process;
use super::state::{Server, State};
use super::{ports, programs};
use crate::interrupt::Interrupt;

/// How often a starting server is asked whether it answers.
const ASK_MS: u64 = 100;

/// One run of `up`.
pub(crate) struct Site<'a> {
    dir: &'a Path,
    state: Mutex<State>,
    /// What this run started, so that a run that is broken off ends these and no others.
    started: Mutex<Vec<Process>>,
    pub(crate) installer: Installer,
    interrupt: &'a Interrupt,
    began: Instant,
    /// Whether the servers live for a run of the tests only, and had better start cheaply than run fast.
    pub(crate) is_for_tests: bool,
}

/// A server to be: its name, what it is part of, and whether its peers have a port of their own.
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) part: Part,
    pub(crate) has_peers: bool,
}

impl<'a> Site<'a> {
    /// A run that begins now.
    pub(crate) fn new(dir: &'a Path, state: State, is_for_tests: bool, interrupt: &'a Interrupt) -> Self {
        Self {
            dir,
            state: Mutex::new(state),
            started: Mutex::default(),
            installer: Installer::default(),
            interrupt,
            began: Instant::now(),
            is_for_tests,
        }
    }

    /// The scratch directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir
    }

    /// Whether somebody wants this run to end.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        self.interrupt
    }

    /// Prints a progress line; a terminal that was closed meanwhile must not keep us from cleaning up.
    pub(crate) fn say(&self, name: &str, what: &str) {
        let _ = writeln!(std::io::stderr(), "[{:>6.1} s] {name:<16} {what}", self.began.elapsed().as_secs_f64());
    }

    /// The state as it is now.
    pub(crate) fn state(&self) -> State {
        self.lock().clone()
    }

    /// What this run started.
    pub(crate) fn started(&self) -> Vec<Process> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The servers of these names, with the folders they live in; new ones get ports that they keep.
    pub(crate) fn place(&self, plans: &[Plan]) -> Result<Vec<Server>> {
        let mut state = self.lock();
        for plan in plans {
            if state.server(&plan.name).is_none() {
                let ports = ports::free(1 + usize::from(plan.has_peers), &state.ports())?;
                state.servers.push(Server {
                    name: plan.name.clone(),
                    part: plan.part,
                    port: ports[0],
                    peer_port: ports.get(1).copied(),
                    version: String::new(),
                    process: None,
                    command: Vec::new(),
                    log: self.folder(&plan.name).join("server.log"),
                });
            }
            std::fs::create_dir_all(self.folder(&plan.name))?;
        }
        state.save(self.dir)?;
        plans.iter().map(|plan| state.server(&plan.name).cloned().context("a server without a place")).collect()
    }

    /// The folder of a server.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Starts a server and waits until `ask` gets its version out of it.
    pub(crate) fn launch(
        &self,
        server: &Server,
        command: &mut Command,
        limit: Duration,
        ask: impl Fn() -> Result<String>,
    ) -> Result<()> {
        self.interrupt.check()?;
        ports::check_free(server.port).with_context(|| server.name.clone())?;
        let began = Instant::now();
        let process = self.spawn(server, command)?;
        let version = loop {
            let refused = match ask() {
                Ok(version) => break version,
                Err(error) => error,
            };
            if !process.runs() {
                bail!("{} ended while it started:\n{}", server.name, programs::tail(&server.log));
            }
            if began.elapsed() >= limit {
                let (name, seconds) = (&server.name, limit.as_secs());
                bail!("{name} did not answer within {seconds} s ({refused:#}):\n{}", programs::tail(&server.log));
            }
            self.interrupt.pause(Duration::from_millis(ASK_MS))?;
        };
        let took = began.elapsed().as_secs_f64();
        self.say(&server.name, &format!("answers at 127.0.0.1:{} after {took:.1} s ({version})", server.port));
        self.record(&server.name, |server| server.version = version)
    }

    /// Notes the process in the state file at once, so that `down` finds it whatever happens to this command.
    fn spawn(&self, server: &Server, command: &mut Command) -> Result<Process> {
        let mut child = programs::spawn(command.process_group(0), &server.log)?;
        let Some(process) = Process::of(child.id()) else {
            let status = child.wait()?;
            bail!("{} ended as it started ({status}):\n{}", server.name, programs::tail(&server.log));
        };
        self.started.lock().unwrap_or_else(PoisonError::into_inner).push(process.clone());
        let line = std::iter::once(command.get_program()).chain(command.get_args());
        let line = line.map(|part| part.to_string_lossy().into_owned()).collect();
        self.record(&server.name, |server| {
            server.process = Some(process.clone());
            server.command = line;
        })?;
        Ok(process)
    }

    fn record(&self, name: &str, change: impl FnOnce(&mut Server)) -> Result<()> {
        let mut state = self.lock();
        if let Some(server) = state.servers.iter_mut().find(|server| server.name == name) {
            change(server);
        }
        state.save(self.dir)
    }
}
