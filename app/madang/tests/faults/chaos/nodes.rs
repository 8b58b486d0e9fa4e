//! A Redis Cluster of the run's own: three masters, each with a replica that takes its place.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use madang_test_servers::{ports, program};

use crate::chaos::signal;
use crate::servers::RedisServers;
use crate::waiting::within;

const MASTERS: usize = 3;
const COUNT: usize = 2 * MASTERS;
/// How long nodes may take to listen, and to agree on who owns what.
const START: Duration = Duration::from_secs(60);

pub(crate) struct Nodes {
    directory: tempfile::TempDir,
    ports: Vec<(u16, u16)>,
    processes: Vec<Option<Child>>,
}

impl Nodes {
    /// Starts them and makes a cluster of them.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let ports = (0..COUNT).map(|_| (ports::free(), ports::free())).collect();
        let mut nodes = Self { directory, ports, processes: (0..COUNT).map(|_| None).collect() };
        (0..COUNT).for_each(|number| nodes.start_again(number));
        let addresses = nodes.ports.iter().map(|(port, _)| format!("127.0.0.1:{port}"));
        let mut create = Command::new(program("redis-cli"));
        create.args(["--cluster", "create"]).args(addresses).args(["--cluster-replicas", "1", "--cluster-yes"]);
        let made = create.stdin(Stdio::null()).output().expect("redis-cli runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        within(START, "every node sees the whole cluster", || {
            let whole = |number: usize| nodes.ask(number, &["cluster", "info"]).contains("cluster_state:ok");
            (0..COUNT).all(whole).then_some(())
        });
        nodes
    }

    /// How processes reach them.
    pub(crate) fn servers(&self) -> RedisServers {
        RedisServers::Cluster(self.ports.iter().map(|(port, _)| format!("redis://127.0.0.1:{port}")).collect())
    }

    /// A node that is a master now, drawn by a number.
    pub(crate) fn master(&self, drawn: usize) -> usize {
        let is_master = |number: &usize| self.ask(*number, &["role"]).starts_with("master");
        let masters: Vec<usize> = (0..COUNT).filter(is_master).collect();
        masters[drawn % masters.len()]
    }

    /// Whether all slots are served, as every node that runs says.
    pub(crate) fn is_whole(&self) -> bool {
        let runs = (0..COUNT).filter(|number| self.processes[*number].is_some());
        runs.into_iter().all(|number| self.ask(number, &["cluster", "info"]).contains("cluster_state:ok"))
    }

    /// kill -9.
    pub(crate) fn kill(&mut self, number: usize) {
        if let Some(mut process) = self.processes[number].take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Stands still, or goes on.
    pub(crate) fn signal(&self, number: usize, name: &str) {
        signal(self.processes[number].as_ref().expect("runs").id(), name);
    }

    /// Starts one without anything in it; what it knows of the others it finds in its file.
    pub(crate) fn start_again(&mut self, number: usize) {
        let (port, bus) = self.ports[number];
        let mut command = Command::new(program("redis-server"));
        command.args(["--port", &port.to_string(), "--cluster-port", &bus.to_string(), "--bind", "127.0.0.1"]);
        command.args([
            "--save",
            "",
            "--appendonly",
            "no",
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "3000",
        ]);
        command.args(["--cluster-config-file", &format!("nodes-{number}.conf"), "--dir"]).arg(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.processes[number] = Some(command.spawn().expect("redis-server runs"));
        within(START, "a node listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    }

    fn ask(&self, number: usize, question: &[&str]) -> String {
        // A node that stands still is asked in vain, and not for ever.
        let mut cli = Command::new(program("timeout"));
        cli.arg("2").arg(program("redis-cli")).args(["-p", &self.ports[number].0.to_string()]);
        cli.args(question).stdin(Stdio::null());
        String::from_utf8_lossy(&cli.output().expect("redis-cli runs").stdout).into_owned()
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        (0..COUNT).for_each(|number| self.kill(number));
    }
}
