//! A site of a test's own on the shared servers: its configuration file, its processes, their logs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use crate::http::Call;
use crate::process::{Process, madang};
use crate::routes::role_of;
use crate::servers::Servers;

/// Roles in the order in which a process that has `all` of them would be asked.
const ALL: &str = "all";

/// Processes that share a name, a secret and the servers.
pub(crate) struct Cluster {
    pub(crate) name: String,
    pub(crate) processes: Vec<Process>,
    directory: Option<TempDir>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl Cluster {
    /// One process with every role, up.
    pub(crate) fn one() -> Self {
        Self::split(&[ALL])
    }

    /// A process for each list of roles, up. Each knows the internal listeners of all others.
    pub(crate) fn split(roles: &[&str]) -> Self {
        let mut cluster = Self::prepared(&Servers::of_environment(), roles);
        cluster.start();
        cluster
    }

    /// The same on servers of the caller's choice, and nothing started yet.
    pub(crate) fn prepared(servers: &Servers, roles: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let name = fresh_name();
        let config = directory.path().join("cluster.toml");
        let log = |place: usize, roles: &str| directory.path().join(format!("{place}-{}.log", roles.replace(',', "-")));
        let processes = roles.iter().enumerate().map(|(place, roles)| Process::new(roles, &config, log(place, roles)));
        let processes: Vec<Process> = processes.collect();
        std::fs::write(&config, file(&name, servers, &processes)).expect("a configuration");
        Self { name, processes, directory: Some(directory) }
    }

    /// Starts every process, and waits until all answer.
    pub(crate) fn start(&mut self) {
        self.processes.iter_mut().for_each(Process::spawn);
        self.processes.iter_mut().for_each(Process::wait_until_up);
    }

    /// Starts one process, and waits until it answers.
    #[allow(dead_code, reason = "used by the suite of the cluster")]
    pub(crate) fn start_one(&mut self, process: usize) {
        self.processes[process].spawn();
        self.processes[process].wait_until_up();
    }

    /// Stops every process the orderly way.
    pub(crate) fn stop(&mut self) {
        for process in &self.processes {
            process.signal("TERM");
        }
        for process in &mut self.processes {
            assert!(process.ended().success(), "{} exits with 0", process.roles);
        }
    }

    /// The configuration file.
    pub(crate) fn config(&self) -> PathBuf {
        self.directory().join("cluster.toml")
    }

    /// Where configuration and logs are.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.as_ref().expect("a directory").path()
    }

    /// A call to a process that serves it.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        self.with_role(role_of(method, path)).call(method, path)
    }

    pub(crate) fn get(&self, path: &str) -> crate::http::Answer {
        self.call("GET", path).send()
    }

    /// A process with a role.
    pub(crate) fn with_role(&self, role: &str) -> &Process {
        let has = |process: &&Process| process.roles.split(',').any(|found| found == role || found == ALL);
        self.processes.iter().find(has).unwrap_or_else(|| panic!("no process has the role {role}"))
    }

    /// Runs `madang ARGUMENTS` with the configuration of the cluster.
    pub(crate) fn command(&self, arguments: &[&str], input: &str) -> Ended {
        let mut command = madang(&self.config());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        // A command that ends without reading is no failure of the test.
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("ends");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Logs are kept, and the end of each is shown, when a test fails.
impl Drop for Cluster {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for process in &self.processes {
            eprintln!("==> the end of the log of {}:\n{}", process.roles, process.tail());
        }
        if let Some(directory) = self.directory.take() {
            eprintln!("==> configuration and logs are kept in {}", directory.keep().display());
        }
    }
}

/// The configuration of a site of its own for one process with every role, for who starts it by themselves.
#[allow(dead_code, reason = "used by the suite of the interface")]
pub(crate) fn file_for_one(servers: &Servers) -> String {
    file(&fresh_name(), servers, &[])
}

fn fresh_name() -> String {
    format!("t{:08x}", rand::random::<u32>())
}

/// The configuration that all processes share; roles and ports are told on the command line.
fn file(name: &str, servers: &Servers, processes: &[Process]) -> String {
    let secret = format!("{name}-{:032x}", rand::random::<u128>());
    // Neither limits nor how late requests are: tests ask more than people do, of a build that is not optimised.
    let mut text = format!(
        "rate_limit = \"off\"\nscheduling_delay_max_ms = 60000\n\n[cluster]\nname = {name:?}\nsecret = {secret:?}\n"
    );
    text.push_str(&servers.section());
    text.push_str("[cluster.peers]\n");
    for role in ["member", "article", "comment", "like", "view"] {
        let has = |process: &&Process| process.roles.split(',').any(|found| found == role);
        let of_role = processes.iter().filter(has);
        let urls: Vec<_> = of_role.map(|process| format!("http://127.0.0.1:{}", process.internal)).collect();
        text.push_str(&format!("{role} = {urls:?}\n"));
    }
    text
}
