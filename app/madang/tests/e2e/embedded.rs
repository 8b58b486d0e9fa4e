//! The embedded composition in a process of its own, with a data directory of its own.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use tempfile::TempDir;

use crate::command::{clean, madang};
use crate::waiting::within;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// How it is started, again and again.
#[derive(Clone)]
pub(crate) struct EmbeddedStart {
    pub(crate) data: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) settings: Vec<(String, String)>,
}

/// A running server.
pub(crate) struct Embedded {
    child: Child,
    lines: Mutex<Receiver<String>>,
    pub(crate) address: String,
    start: EmbeddedStart,
    // Removed when the last holder is gone.
    pub(crate) directory: Option<TempDir>,
}

impl EmbeddedStart {
    /// Starts it and waits for the line that says where it listens.
    pub(crate) fn start(self) -> Embedded {
        // A directory that a test made is open to others, and would be refused.
        if self.data.is_dir() {
            std::fs::set_permissions(&self.data, Permissions::from_mode(0o700)).expect("closes it");
        }
        let mut command = Command::new(madang());
        clean(&mut command).args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&self.data);
        // Real hashes, but the smallest: what is tested here is everything around them.
        command.args(["--set", "hash_memory_kib=8", "--set", "hash_passes=1"]);
        // Many servers run at once, and there is one usual port for operators.
        command.args(["--set", "operations_listen=public"]);
        // Tests ask more often than people do; those about limits set it again.
        command.env("MADANG_RATE_LIMIT", "off");
        // A build that is not optimised, on a machine that runs other suites, keeps everybody waiting.
        command.env("MADANG_WAIT_MAX_MS", "60000");
        for (key, value) in &self.settings {
            command.args(["--set", &format!("{key}={value}")]);
        }
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        command.envs(environment).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let first = lines.recv_timeout(START_TIMEOUT).expect("says where it listens");
        let address = first.strip_prefix("listening on ").and_then(|address| address.split_once("://"));
        let address = address.unwrap_or_else(|| panic!("{first}")).1.to_owned();
        Embedded { child, lines: Mutex::new(lines), address, start: self, directory: None }
    }
}

impl Embedded {
    pub(crate) fn data(&self) -> &Path {
        &self.start.data
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line on standard output.
    pub(crate) fn line(&self) -> String {
        self.lines.lock().expect("whole").recv_timeout(START_TIMEOUT).expect("another line")
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        within(STOP_TIMEOUT, "the server has ended", || self.child.try_wait().expect("waits"))
    }

    /// Ends it as a power cut would end the process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("kills");
        self.child.wait().expect("waits");
    }

    /// The same, and starts it again on what is left.
    pub(crate) fn crash_and_restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Stops it the orderly way and starts it again.
    pub(crate) fn restart(&mut self) {
        let told = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        assert!(told.expect("kill runs").success() && self.ended().success(), "exits with 0");
        self.start_again();
    }

    fn start_again(&mut self) {
        let mut again = self.start.clone().start();
        again.directory = self.directory.take();
        *self = again;
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
