//! `cargo xtask stack up`: starts every part that does not run, side by side, and leaves nothing behind when broken off.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};

use super::directory::Directory;
use super::install::Installer;
use super::part::Part;
use super::process::{self, Process};
use super::state::{self, Server, Shape, State};
use super::{kafka, mariadb, observe, probe, redis};
use crate::interrupt::{Interrupt, Interrupted};
use crate::program;

/// How often a starting server is probed.
const PROBE: Duration = Duration::from_millis(100);

/// A part that could not be had, and why.
pub(crate) struct Missing {
    pub(crate) part: Part,
    pub(crate) why: anyhow::Error,
}

/// One run of `up`: what the parts share while they start side by side.
pub(crate) struct Up<'a> {
    pub(crate) dir: &'a Path,
    state: Mutex<State>,
    /// What this run started, so that a run that is broken off ends these and no others.
    started: Mutex<Vec<Process>>,
    installer: Installer,
    pub(crate) interrupt: &'a Interrupt,
    began: Instant,
    /// Whether the servers live for a run of the tests only, and had better start cheaply than run fast.
    pub(crate) is_for_tests: bool,
    parts: &'a [Part],
}

/// What is to be brought up.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// What the stack consists of.
    pub(crate) shape: Shape,
    /// Which parts are to run after this; others stay as they are.
    pub(crate) parts: &'a [Part],
    /// Whether the servers live for a run of the tests only.
    pub(crate) is_for_tests: bool,
}

/// Brings the stack in `dir` up; returns what could not be had. Only an interrupt, or a directory that is not to be
/// used, is an error; then whatever this call started has ended again.
pub(crate) fn up(dir: &Path, wanted: Wanted<'_>, interrupt: &Interrupt) -> Result<(State, Vec<Missing>)> {
    let Wanted { shape, parts, is_for_tests } = wanted;
    let directory = Directory::take(dir)?;
    let dir = directory.path();
    let found = State::load(dir)?;
    let is_new = found.is_none();
    let state = found.unwrap_or_else(|| State::of_shape(shape));
    ensure!(
        state.brokers == shape.brokers,
        "the stack in {} has {} broker(s), and their number is fixed: take it down first",
        dir.display(),
        state.brokers
    );
    ensure!(
        state.replicas == shape.replicas,
        "the stack in {} was made {} replicas: take it down first, or say the same again",
        dir.display(),
        if state.replicas { "with" } else { "without" }
    );
    ensure!(
        state.observe == shape.observe,
        "the stack in {} was made {} --observe: take it down first, or say the same again",
        dir.display(),
        if state.observe.is_some() { "with" } else { "without" }
    );
    state.save(dir)?;
    let up = Up {
        dir,
        state: Mutex::new(state),
        started: Mutex::default(),
        installer: Installer::default(),
        interrupt,
        began: Instant::now(),
        is_for_tests,
        parts,
    };
    let missing = up.start_parts();
    if interrupt.check().is_err() {
        process::end(&lock(&up.started));
        if is_new {
            directory.remove()?;
        }
        return Err(Interrupted.into());
    }
    let state = up.state();
    Ok((state, missing))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Up<'_> {
    /// Prints a progress line; a terminal that was closed meanwhile must not keep us from cleaning up.
    pub(crate) fn say(&self, name: &str, what: &str) {
        let _ = writeln!(std::io::stderr(), "[{:>6.1} s] {name:<18} {what}", self.began.elapsed().as_secs_f64());
    }

    /// Whether a part belongs to what is to run, or has servers already.
    pub(crate) fn wants(&self, part: Part) -> bool {
        self.parts.contains(&part) || !self.state().of(part).is_empty()
    }

    /// The state as it is now.
    pub(crate) fn state(&self) -> State {
        lock(&self.state).clone()
    }

    /// The folder of a server.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Every part in a thread of its own; the failure of one does not concern the others.
    fn start_parts(&self) -> Vec<Missing> {
        std::thread::scope(|scope| {
            let starts = self.parts.iter().map(|part| (*part, scope.spawn(move || self.start_part(*part))));
            // All of them begin before the first is waited for.
            let starts: Vec<_> = starts.collect();
            let results = starts
                .into_iter()
                .map(|(part, start)| (part, start.join().unwrap_or_else(|_| Err(anyhow!("panicked")))));
            results.filter_map(|(part, result)| result.err().map(|why| Missing { part, why })).collect()
        })
    }

    fn start_part(&self, part: Part) -> Result<()> {
        if part.own().is_some() {
            self.say(part.name(), &format!("left to your own ({} is set)", part.variable().unwrap_or_default()));
            return Ok(());
        }
        if part == Part::MysqlReplica && Part::Mysql.own().is_some() {
            // Nobody here to replicate from.
            return Ok(());
        }
        let started = self.start_servers(part);
        if let Err(error) = &started {
            if !error.is::<Interrupted>() {
                self.say(part.name(), "FAILED");
            }
            // Half a part would be taken for a whole one by tests that find its address.
            process::end(&self.started_of(part));
        }
        started
    }

    fn start_servers(&self, part: Part) -> Result<()> {
        if part == Part::MysqlReplica {
            // Whom they follow, by port: their primaries may not have come so far.
            self.reserve(Part::Mysql)?;
        }
        let servers = self.reserve(part)?;
        if servers.is_empty() && matches!(part, Part::MysqlReplica | Part::Observe) {
            return Ok(());
        }
        let stopped = self.stopped(&servers)?;
        if stopped.is_empty() && !servers.is_empty() && part != Part::RedisCluster {
            return Ok(());
        }
        self.installer.ensure(part, self)?;
        match part {
            Part::Mysql | Part::MysqlReplica => all(&stopped, |server| mariadb::start(self, server)),
            Part::Redis => all(&stopped, |server| redis::start(self, server)),
            Part::RedisCluster => redis::start_cluster(self, &servers, &stopped),
            Part::Kafka => kafka::start(self, &servers, &stopped),
            Part::Observe => observe::start(self, &stopped),
            Part::Nginx | Part::Browser | Part::Promtool | Part::HostTools => {
                self.say(part.name(), "is installed, for tests to start");
                Ok(())
            }
        }
    }

    /// The servers of a part with the folders they live in; new ones get ports that they keep.
    pub(crate) fn reserve(&self, part: Part) -> Result<Vec<Server>> {
        let mut state = lock(&self.state);
        let mut servers = Vec::new();
        for name in part.servers(state.shape()) {
            std::fs::create_dir_all(self.folder(&name))?;
            servers.push(state.reserve(&name, part, self.folder(&name).join("server.log"))?);
        }
        state.save(self.dir)?;
        Ok(servers)
    }

    /// The servers of these that must be started; one that runs without answering is not ours to repair.
    fn stopped(&self, servers: &[Server]) -> Result<Vec<Server>> {
        for server in servers.iter().filter(|server| server.runs()) {
            if let Err(error) = probe::version(server) {
                bail!("{} runs but does not answer ({error:#}):\n{}", server.name, program::tail(&server.log));
            }
            self.say(&server.name, &format!("runs already at 127.0.0.1:{}", server.port));
        }
        Ok(servers.iter().filter(|server| !server.runs()).cloned().collect())
    }

    /// What this run started of a part.
    fn started_of(&self, part: Part) -> Vec<Process> {
        let started = lock(&self.started).clone();
        let processes =
            self.state().of(part).into_iter().filter_map(|server| server.process.clone()).collect::<Vec<_>>();
        processes.into_iter().filter(|process| started.contains(process)).collect()
    }

    /// Starts a server and waits until `probe` gets its version out of it.
    pub(crate) fn launch(
        &self,
        server: &Server,
        command: &mut Command,
        limit: Duration,
        probe: impl Fn() -> Result<String>,
    ) -> Result<()> {
        self.interrupt.check()?;
        let (name, port) = (&server.name, server.port);
        // Whoever listens there would be taken for the server that cannot.
        ensure!(state::is_free(port), "{name}: port {port} is taken: `down`, then `up` finds another");
        let began = Instant::now();
        let process = self.spawn(server, command)?;
        let version = self.wait(limit, probe, || process.runs())?;
        let Some(version) = version else {
            bail!("{name} ended or did not answer within {} s:\n{}", limit.as_secs(), program::tail(&server.log));
        };
        let took = began.elapsed().as_secs_f64();
        self.say(name, &format!("answers at 127.0.0.1:{port} after {took:.1} s ({version})"));
        self.record(name, |server| server.version = version)
    }

    /// Probes until an answer comes; nothing when the limit is over, or there is nobody left to answer.
    pub(crate) fn wait<T>(
        &self,
        limit: Duration,
        probe: impl Fn() -> Result<T>,
        is_alive: impl Fn() -> bool,
    ) -> Result<Option<T>> {
        let until = Instant::now() + limit;
        while is_alive() && Instant::now() < until {
            if let Ok(found) = probe() {
                return Ok(Some(found));
            }
            self.interrupt.pause(PROBE)?;
        }
        Ok(None)
    }

    /// Notes the process in the state file at once, so that `down` finds it whatever happens to this command.
    fn spawn(&self, server: &Server, command: &mut Command) -> Result<Process> {
        let mut child = program::spawn(command, &server.log)?;
        let Some(process) = Process::of(child.id()) else {
            let status = child.wait()?;
            bail!("{} ended as it started ({status}):\n{}", server.name, program::tail(&server.log));
        };
        lock(&self.started).push(process.clone());
        self.record(&server.name, |server| server.process = Some(process.clone()))?;
        Ok(process)
    }

    fn record(&self, name: &str, change: impl FnOnce(&mut Server)) -> Result<()> {
        let mut state = lock(&self.state);
        if let Some(server) = state.servers.iter_mut().find(|server| server.name == name) {
            change(server);
        }
        state.save(self.dir)
    }
}

/// Starts all of these at once; the first failure in their order is the result.
pub(crate) fn all(servers: &[Server], start: impl Fn(&Server) -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let start = &start;
        let running: Vec<_> = servers.iter().map(|server| scope.spawn(move || start(server))).collect();
        let results: Vec<_> =
            running.into_iter().map(|task| task.join().unwrap_or_else(|_| Err(anyhow!("panicked")))).collect();
        results.into_iter().collect()
    })
}
