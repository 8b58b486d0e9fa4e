//! One process of a cluster: the real binary with its roles, its ports and its log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::http::{Answer, Call};
use crate::waiting::within;
use madang_test_servers::ports;

const START: Duration = Duration::from_secs(90);
const STOP: Duration = Duration::from_secs(60);
/// Lines of a log that are shown when a test fails.
const TAIL_LINES: usize = 80;

pub(crate) const ADMIN: &str = "root_admin";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// How a process is started, again and again.
pub(crate) struct Process {
    pub(crate) roles: String,
    pub(crate) public: u16,
    pub(crate) internal: u16,
    /// Where it answers operators.
    operations: u16,
    config: PathBuf,
    log: PathBuf,
    settings: Vec<String>,
    environment: Vec<(String, String)>,
    /// Files that it may have open, where that is not what the system allows.
    files: Option<u64>,
    child: Option<Child>,
}

impl Process {
    /// A process that is not started yet.
    pub(crate) fn new(roles: &str, config: &Path, log: PathBuf) -> Self {
        let (public, internal, operations) = (ports::free(), ports::free(), ports::free());
        let (roles, config) = (roles.to_owned(), config.to_owned());
        let (settings, environment) = (Vec::new(), Vec::new());
        Self { roles, public, internal, operations, config, log, settings, environment, files: None, child: None }
    }

    /// A configuration of its own, for every start from now on.
    pub(crate) fn use_config(&mut self, config: &Path) {
        self.config = config.to_owned();
    }

    /// A variable for every start from now on.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// So many open files, for every start from now on.
    pub(crate) fn limit_files(&mut self, files: u64) {
        self.files = Some(files);
    }

    /// A setting for every start from now on.
    pub(crate) fn set(&mut self, setting: &str) {
        self.settings.push(setting.to_owned());
    }

    /// Starts it, without waiting for anything.
    pub(crate) fn spawn(&mut self) {
        let log = File::options().create(true).append(true).open(&self.log).expect("a log");
        let mut command = madang(&self.config);
        command.args(["serve", "--roles", &self.roles, "--listen", &self.address()]);
        command.args(["--set", &format!("cluster.internal.listen=127.0.0.1:{}", self.internal)]);
        command.args(["--set", &format!("operations_listen=127.0.0.1:{}", self.operations)]);
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        command.env("MADANG_ADMIN_NAME", ADMIN).env("MADANG_ADMIN_PASSWORD", PASSWORD);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(files) = self.files {
            command = limited(&command, files);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        self.child = Some(command.spawn().expect("starts"));
    }

    /// Waits until it answers.
    pub(crate) fn wait_until_up(&mut self) {
        let address = self.address();
        within(START, &format!("{} answers", self.roles), || {
            if let Some(child) = &mut self.child
                && let Some(ended) = child.try_wait().expect("waits")
            {
                panic!("{} ended with {ended} while it was starting", self.roles);
            }
            let answer = crate::http::Http::connect(&address).ok()?;
            drop(answer);
            (self.call("GET", "/healthz").send().status == 200).then_some(())
        });
    }

    /// Host and port of its public listener.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.public)
    }

    /// A call to it; what operators ask is answered where operators ask.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        match path {
            "/readyz" | "/metrics" => Call::new(&format!("127.0.0.1:{}", self.operations), method, path),
            _ => Call::new(&self.address(), method, path),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send()
    }

    /// Its process, while it runs.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("runs").id()
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("kill runs").success());
    }

    /// Stops it the orderly way.
    pub(crate) fn stop(&mut self) {
        self.signal("TERM");
        assert!(self.ended().success(), "{} exits with 0", self.roles);
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Waits until it has ended by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("runs");
        within(STOP, &format!("{} has ended", self.roles), || child.try_wait().expect("waits"))
    }

    /// What it said so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The last of what it said.
    pub(crate) fn tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The binary with a configuration file, without settings of whoever runs the tests, and with the smallest real hashes.
pub(crate) fn madang(config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_madang"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MADANG_")) {
        command.env_remove(name);
    }
    command.arg("--config").arg(config).args(["--set", "hash_memory_kib=8", "--set", "hash_passes=1"]);
    command
}

/// The same command under a bound on open files.
fn limited(command: &Command, files: u64) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -n {files} && exec \"$0\" \"$@\"")).arg(command.get_program());
    shell.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}
