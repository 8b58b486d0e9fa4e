//! The servers of `cargo xtask stack`, as the Lab sees them: where they are, and how to take one away and bring it back.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tokio::process::Command;

/// How long a server that was killed may take to be gone.
const GONE_MAX: Duration = Duration::from_secs(30);

/// What a stack is made of.
#[derive(Debug, Clone, Copy)]
pub struct StackOptions {
    /// One broker or three.
    pub brokers: u8,
    /// Whether each MariaDB server has a replica.
    pub replicas: bool,
}

impl StackOptions {
    fn arguments(self) -> Vec<String> {
        let mut arguments = vec!["up".to_owned(), "--brokers".to_owned(), self.brokers.to_string()];
        if self.replicas {
            arguments.push("--replicas".to_owned());
        }
        arguments
    }
}

/// A running stack.
#[derive(Debug, Clone)]
pub struct Stack {
    dir: PathBuf,
    /// `xtask`, which starts and ends servers.
    xtask: PathBuf,
    /// Servers that were killed, and may take a moment to be gone.
    killed: Arc<Mutex<BTreeSet<String>>>,
}

#[derive(Deserialize)]
struct State {
    #[serde(default)]
    replicas: bool,
    mysql_password: String,
    servers: Vec<Server>,
}

#[derive(Deserialize)]
struct Server {
    name: String,
    port: u16,
    process: Option<Process>,
}

#[derive(Deserialize)]
struct Process {
    pid: i32,
}

impl Process {
    /// Gone, or waiting for its parent to notice.
    fn has_ended(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid));
        // The state stands behind the name, which is in parentheses and may hold anything.
        stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])))
    }
}

impl Stack {
    /// The stack that somebody brought up in `dir`.
    #[must_use]
    pub fn at(dir: &Path, xtask: &Path) -> Self {
        Self { dir: dir.to_owned(), xtask: xtask.to_owned(), killed: Arc::default() }
    }

    /// Brings another stack up, in a directory of its own; `down` ends it.
    pub async fn up_beside(&self, dir: &Path, options: StackOptions) -> anyhow::Result<Self> {
        let other = Self::at(dir, &self.xtask);
        other.xtask(&options.arguments()).await?;
        Ok(other)
    }

    /// As [`Self::up_beside`], of a stack that ends with what is returned, also when the experiment fails or is broken off.
    pub async fn up_for_a_while(&self, dir: &Path, options: StackOptions) -> anyhow::Result<BorrowedStack> {
        // Guarded before it is up: an `up` that is broken off may have started some servers.
        let borrowed = BorrowedStack(Self::at(dir, &self.xtask));
        borrowed.0.xtask(&options.arguments()).await?;
        Ok(borrowed)
    }

    /// What it is made of.
    pub fn options(&self) -> anyhow::Result<StackOptions> {
        let state = self.state()?;
        let brokers = state.servers.iter().filter(|server| server.name.starts_with("kafka-")).count();
        Ok(StackOptions { brokers: u8::try_from(brokers)?, replicas: state.replicas })
    }

    /// Ends it, and removes its directory.
    pub async fn down(&self) -> anyhow::Result<()> {
        self.xtask(&["down".to_owned()]).await
    }

    /// The URL of a MariaDB server, with a user who may do everything; the first is 1.
    pub fn mysql(&self, number: u8) -> anyhow::Result<String> {
        let state = self.state()?;
        Ok(format!("mysql://root:{}@127.0.0.1:{}", state.mysql_password, self.port(&format!("mariadb-{number}"))?))
    }

    /// The URL of the replica of a MariaDB server, where the stack has replicas.
    pub fn mysql_replica(&self, number: u8) -> anyhow::Result<String> {
        let (state, port) = (self.state()?, self.port(&format!("mariadb-{number}-replica"))?);
        Ok(format!("mysql://root:{}@127.0.0.1:{port}", state.mysql_password))
    }

    /// The URL of the single Redis.
    pub fn redis(&self) -> anyhow::Result<String> {
        Ok(format!("redis://127.0.0.1:{}", self.port("redis")?))
    }

    /// The URLs of the nodes of the Redis Cluster.
    pub fn redis_cluster(&self) -> anyhow::Result<Vec<String>> {
        let node = |number: u8| Ok(format!("redis://127.0.0.1:{}", self.port(&format!("redis-cluster-{number}"))?));
        (1..=3).map(node).collect()
    }

    /// The addresses of Kafka's brokers, separated by commas.
    pub fn kafka(&self) -> anyhow::Result<String> {
        let state = self.state()?;
        let brokers = state.servers.iter().filter(|server| server.name.starts_with("kafka-"));
        Ok(brokers.map(|server| format!("127.0.0.1:{}", server.port)).collect::<Vec<_>>().join(","))
    }

    /// Where a server listens on 127.0.0.1, by its name: `mariadb-1`, `kafka-1`, `redis`.
    pub fn port(&self, server: &str) -> anyhow::Result<u16> {
        Ok(self.server(server)?.port)
    }

    /// The names of its servers.
    pub fn servers(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.state()?.servers.into_iter().map(|server| server.name).collect())
    }

    /// Kills a server without warning.
    pub fn kill(&self, server: &str) -> anyhow::Result<()> {
        self.killed.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned());
        self.signal(server, Signal::KILL)
    }

    /// Freezes a server: it keeps its connections and answers nothing.
    pub fn freeze(&self, server: &str) -> anyhow::Result<()> {
        self.signal(server, Signal::STOP)
    }

    /// Lets a frozen server go on.
    pub fn thaw(&self, server: &str) -> anyhow::Result<()> {
        self.signal(server, Signal::CONT)
    }

    /// Starts whatever of the stack has ended, on its old port and data, and waits until it answers.
    pub async fn start_what_ended(&self) -> anyhow::Result<()> {
        self.wait_for_the_killed().await?;
        self.xtask(&self.options()?.arguments()).await
    }

    /// A server that was killed a moment ago may still run, and hold its port.
    async fn wait_for_the_killed(&self) -> anyhow::Result<()> {
        let until = Instant::now() + GONE_MAX;
        let killed = std::mem::take(&mut *self.killed.lock().unwrap_or_else(PoisonError::into_inner));
        for name in killed {
            let Server { port, process, .. } = self.server(&name)?;
            let runs = || process.as_ref().is_some_and(|process| !process.has_ended());
            while runs() || TcpListener::bind(("127.0.0.1", port)).is_err() {
                ensure!(Instant::now() < until, "{name} was killed, and is not gone");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }

    fn signal(&self, server: &str, signal: Signal) -> anyhow::Result<()> {
        let process = self.server(server)?.process.with_context(|| format!("{server} was never started"))?;
        let pid = Pid::from_raw(process.pid).context("a process has a number")?;
        kill_process(pid, signal).with_context(|| format!("could not signal {server}"))
    }

    fn server(&self, name: &str) -> anyhow::Result<Server> {
        let found = self.state()?.servers.into_iter().find(|server| server.name == name);
        found.with_context(|| format!("the stack in {} has no server {name}", self.dir.display()))
    }

    fn state(&self) -> anyhow::Result<State> {
        let path = self.dir.join("stack.json");
        let text = std::fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is no state of a stack", path.display()))
    }

    async fn xtask(&self, arguments: &[String]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.xtask);
        command.arg("stack").args(arguments).arg("--dir").arg(&self.dir).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.with_context(|| format!("could not start {}", self.xtask.display()))?;
        if !output.status.success() {
            bail!("`xtask stack {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }
}

/// A stack for a while: dropped, it is taken down.
#[derive(Debug)]
pub struct BorrowedStack(Stack);

impl Deref for BorrowedStack {
    type Target = Stack;

    fn deref(&self) -> &Stack {
        &self.0
    }
}

impl Drop for BorrowedStack {
    fn drop(&mut self) {
        // Blocks, because nothing is waited for any more when an experiment is broken off, and servers must not stay behind.
        let mut command = std::process::Command::new(&self.0.xtask);
        command.args(["stack", "down", "--dir"]).arg(&self.0.dir).stdin(Stdio::null()).stdout(Stdio::null());
        let _ = command.stderr(Stdio::null()).status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(json: &str) -> (tempfile::TempDir, Stack) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("stack.json"), json).unwrap();
        let stack = Stack::at(dir.path(), Path::new("/bin/true"));
        (dir, stack)
    }

    #[test]
    fn a_stack_tells_its_addresses_and_what_it_is_made_of() {
        let (_dir, stack) = stack(
            r#"{"mysql_password": "s", "replicas": true, "servers": [
                {"name": "mariadb-1", "port": 1, "process": null},
                {"name": "mariadb-1-replica", "port": 2, "process": {"pid": 5, "started": "1"}},
                {"name": "kafka-1", "port": 3, "process": null}, {"name": "kafka-2", "port": 4, "process": null}]}"#,
        );
        assert_eq!(stack.mysql(1).unwrap(), "mysql://root:s@127.0.0.1:1");
        assert_eq!(stack.mysql_replica(1).unwrap(), "mysql://root:s@127.0.0.1:2");
        assert_eq!(stack.kafka().unwrap(), "127.0.0.1:3,127.0.0.1:4");
        assert_eq!(stack.options().unwrap().arguments(), ["up", "--brokers", "2", "--replicas"]);
        assert!(stack.mysql(2).is_err() && stack.kill("mariadb-1").is_err(), "no such server, and one that never ran");
    }

    #[test]
    fn a_stack_of_an_earlier_xtask_has_no_replicas() {
        let (_dir, stack) =
            stack(r#"{"mysql_password": "s", "servers": [{"name": "kafka-1", "port": 3, "process": null}]}"#);
        assert_eq!(stack.options().unwrap().arguments(), ["up", "--brokers", "1"]);
    }
}
