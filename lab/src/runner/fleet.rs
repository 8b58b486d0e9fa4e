//! The processes of a trial: started, restarted when they die, signalled, and killed with the one who started them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::Faults;
use crate::programs::crash::{CRASH, CRASH_LOG, CRASH_SEED};
use crate::programs::http::HttpClient;
use crate::programs::process::BOUND_TO_PARENT;

/// Between two looks at the processes.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Between the end of a process and its next start; longer when it ended by itself, as it would at once again.
const RESTART_AFTER: Duration = Duration::from_millis(20);
const RESTART_AFTER_ERROR: Duration = Duration::from_millis(300);
/// How long a process may take until it answers.
const READY_MAX: Duration = Duration::from_secs(30);
/// Ports below those that systems give to outgoing connections, so that none takes the place of a process that is away.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A program to run.
#[derive(Debug, Clone)]
pub struct Spec {
    /// What it is called in this trial.
    pub name: String,
    /// Its subcommand and flags.
    pub args: Vec<String>,
    /// Its environment beside what all have.
    pub env: Vec<(String, String)>,
    /// Its armed crash points, `name=probability,…`.
    pub crash: String,
}

impl Spec {
    /// A program by its subcommand and flags.
    #[must_use]
    pub fn new(name: impl Into<String>, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { name: name.into(), args, env: Vec::new(), crash: String::new() }
    }

    /// The same with a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The same with a flag and its value.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "most values are numbers, and read better without an ampersand")]
    pub fn flag(mut self, name: &str, value: impl ToString) -> Self {
        self.args.extend([format!("--{name}"), value.to_string()]);
        self
    }

    /// The same with crash points armed.
    #[must_use]
    pub fn crashing(mut self, points: &str) -> Self {
        points.clone_into(&mut self.crash);
        self
    }
}

struct Slot {
    spec: Spec,
    port: u16,
    child: Option<Child>,
    restart_at: Instant,
    starts: u64,
    stopped: bool,
}

struct Shared {
    binary: PathBuf,
    dir: PathBuf,
    env: Vec<(String, String)>,
    faults: Faults,
    state: Mutex<State>,
}

struct State {
    slots: BTreeMap<String, Slot>,
    armed: bool,
    chance: SmallRng,
    /// Ends that nobody ordered, as a person reads them.
    unexpected: Vec<String>,
}

/// The processes of a trial.
pub struct Fleet {
    shared: Arc<Shared>,
    _watch: JoinSet<()>,
}

impl Fleet {
    /// A fleet of processes of `binary`, all with `env`, whose logs are in `dir`.
    pub fn new(
        binary: &Path,
        dir: &Path,
        env: Vec<(String, String)>,
        seed: u64,
        faults: Faults,
    ) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("could not make {}", dir.display()))?;
        let chance = SmallRng::seed_from_u64(seed);
        let state = State { slots: BTreeMap::new(), armed: true, chance, unexpected: Vec::new() };
        let (binary, dir, state) = (binary.to_owned(), dir.to_owned(), Mutex::new(state));
        let shared = Arc::new(Shared { binary, dir, env, faults, state });
        let mut watch = JoinSet::new();
        let watched = Arc::clone(&shared);
        watch.spawn(async move {
            loop {
                sleep(LOOK_EVERY).await;
                watched.look();
            }
        });
        Ok(Self { shared, _watch: watch })
    }

    /// Starts a program and waits until it answers. Returns where: `http://127.0.0.1:port`.
    pub async fn start(&self, spec: Spec) -> anyhow::Result<String> {
        let url = self.launch(spec)?;
        self.ready(&url).await?;
        Ok(url)
    }

    /// Starts a program, and does not wait.
    pub fn launch(&self, spec: Spec) -> anyhow::Result<String> {
        let mut state = self.shared.lock();
        let port = free_port()?;
        let name = spec.name.clone();
        let slot = Slot { spec, port, child: None, restart_at: Instant::now(), starts: 0, stopped: false };
        if state.slots.insert(name.clone(), slot).is_some() {
            bail!("{name} runs already");
        }
        self.shared.spawn(&mut state, &name);
        Ok(format!("http://127.0.0.1:{port}"))
    }

    async fn ready(&self, url: &str) -> anyhow::Result<()> {
        let client = HttpClient::new(Duration::from_millis(500));
        let deadline = Instant::now() + READY_MAX;
        while !client.get(&format!("{url}/health")).await.is_ok_and(|answer| answer.status.is_success()) {
            if Instant::now() > deadline {
                bail!("{url} did not answer within {READY_MAX:?}; logs are in {}", self.shared.dir.display());
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Kills a process; it is started again. False when it does not run.
    pub fn kill(&self, name: &str) -> bool {
        let killed = self.signal(name, Signal::KILL);
        if killed {
            self.shared.faults.count("SIGKILL");
        }
        killed
    }

    /// Stops a process where it is. False when it does not run.
    pub fn freeze(&self, name: &str) -> bool {
        let frozen = self.signal(name, Signal::STOP);
        if frozen {
            self.shared.faults.count("SIGSTOP");
        }
        frozen
    }

    /// Lets a stopped process go on.
    pub fn thaw(&self, name: &str) {
        self.signal(name, Signal::CONT);
    }

    /// Kills a process that is not started again.
    pub async fn kill_for_good(&self, name: &str) {
        let slot = self.shared.lock().slots.remove(name);
        if let Some(mut child) = slot.and_then(|slot| slot.child) {
            if pid(&child).is_some_and(is_alive) {
                self.shared.faults.count("SIGKILL");
            }
            let _ = child.kill().await;
        }
    }

    /// Arms no crash point any more: what is armed and runs may still crash once.
    pub fn calm(&self) {
        self.shared.lock().armed = false;
    }

    /// The names of those that run, by how they begin.
    #[must_use]
    pub fn names(&self, beginnings: &[&str]) -> Vec<String> {
        let state = self.shared.lock();
        let fits = |name: &&String| beginnings.iter().any(|beginning| name.starts_with(beginning));
        state.slots.keys().filter(fits).cloned().collect()
    }

    /// Starts beyond the first.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.shared.lock().slots.values().map(|slot| slot.starts.saturating_sub(1)).sum()
    }

    /// Ends that nobody ordered.
    #[must_use]
    pub fn unexpected(&self) -> Vec<String> {
        self.shared.lock().unexpected.clone()
    }

    /// The faults of this fleet.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    fn signal(&self, name: &str, signal: Signal) -> bool {
        let mut state = self.shared.lock();
        let Some(slot) = state.slots.get_mut(name) else { return false };
        // A child that has ended and was not waited for still has its number, so no other process is ever meant; and its
        // signal is no fault, because nobody is there to feel it.
        let pid = slot.child.as_ref().and_then(pid).filter(|pid| is_alive(*pid));
        let sent = pid.is_some_and(|pid| kill_process(pid, signal).is_ok());
        slot.stopped = sent && signal == Signal::STOP;
        sent
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) {
        let mut state = self.lock();
        let mut due = Vec::new();
        let mut told = Vec::new();
        for (name, slot) in &mut state.slots {
            if let Some(child) = &mut slot.child
                && let Ok(Some(status)) = child.try_wait()
            {
                slot.child = None;
                let by_signal = status.signal().is_some();
                let pause = if by_signal { RESTART_AFTER } else { RESTART_AFTER_ERROR };
                slot.restart_at = Instant::now() + pause;
                told.extend(unordered(name, status));
            }
            if slot.child.is_none() && slot.restart_at <= Instant::now() {
                due.push(name.clone());
            }
        }
        state.unexpected.append(&mut told);
        for name in due {
            self.spawn(&mut state, &name);
        }
    }

    fn spawn(&self, state: &mut State, name: &str) {
        let (armed, seed) = (state.armed, state.chance.next_u64());
        let Some(slot) = state.slots.get_mut(name) else { return };
        let mut command = Command::new(&self.binary);
        command.args(&slot.spec.args).envs(self.env.iter().cloned()).envs(slot.spec.env.iter().cloned());
        command.env("LAB_LISTEN", format!("127.0.0.1:{}", slot.port)).env(BOUND_TO_PARENT, "1");
        if armed && !slot.spec.crash.is_empty() {
            command
                .env(CRASH, &slot.spec.crash)
                .env(CRASH_SEED, seed.to_string())
                .env(CRASH_LOG, self.faults.crash_log());
        }
        let log = File::options().create(true).append(true).open(self.dir.join(format!("{name}.log")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        command.stderr(log.map_or_else(|_| Stdio::null(), Stdio::from));
        match command.spawn() {
            Ok(child) => {
                slot.child = Some(child);
                slot.starts += 1;
            }
            Err(error) => {
                slot.restart_at = Instant::now() + RESTART_AFTER_ERROR;
                state.unexpected.push(format!("{name} could not be started: {error}"));
            }
        }
    }
}

fn pid(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// Whether a process runs or stands still, and has not ended without being waited for.
pub(crate) fn is_alive(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    // The state stands behind the name, which is in parentheses and may hold anything.
    stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X'])))
}

/// What is to be told of an end: not that of a crash point, and not that of a signal of ours.
fn unordered(name: &str, status: ExitStatus) -> Option<String> {
    let ordered = [Signal::KILL, Signal::ABORT].iter().any(|signal| status.signal() == Some(signal.as_raw()));
    (!ordered).then(|| format!("{name} ended: {status}"))
}

/// A port that is free, and that no other fleet of this process was given: between the look and the start of its program
/// somebody else could find it free too.
fn free_port() -> anyhow::Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..1_000 {
        let port = rand::random_range(PORTS);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() && given.insert(port) {
            return Ok(port);
        }
    }
    bail!("no port is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_to_a_process_that_has_ended_is_no_fault() {
        let dir = tempfile::tempdir().unwrap();
        let faults = Faults::new(dir.path());
        let fleet = Fleet::new(Path::new("/bin/sleep"), dir.path(), Vec::new(), 1, faults.clone()).unwrap();
        fleet.launch(Spec::new("sleeper", &["600"])).unwrap();
        assert!(fleet.freeze("sleeper"));
        fleet.thaw("sleeper");
        let running = fleet.shared.lock().slots["sleeper"].child.as_ref().and_then(pid).unwrap();
        // Nobody waits for it before the next look, which this thread keeps from happening.
        kill_process(running, Signal::KILL).unwrap();
        while is_alive(running) {
            std::thread::yield_now();
        }
        assert!(!fleet.kill("sleeper") && !fleet.freeze("sleeper"));
        assert_eq!(faults.by_kind(), BTreeMap::from([("SIGSTOP".to_owned(), 1)]));
    }
}
