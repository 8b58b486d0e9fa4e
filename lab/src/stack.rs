//! The servers of `cargo xtask stack`, as the Lab sees them: where they are, and how to take one away and bring it back.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tokio::process::Command;

/// What a stack is made of.
#[derive(Debug, Clone, Copy)]
pub struct StackOptions {
    /// One broker or three.
    pub brokers: u8,
}

/// A running stack.
#[derive(Debug, Clone)]
pub struct Stack {
    dir: PathBuf,
    /// `xtask`, which starts and ends servers.
    xtask: PathBuf,
}

#[derive(Deserialize)]
struct State {
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

impl Stack {
    /// The stack that somebody brought up in `dir`.
    #[must_use]
    pub fn at(dir: &Path, xtask: &Path) -> Self {
        Self { dir: dir.to_owned(), xtask: xtask.to_owned() }
    }

    /// Brings another stack up, in a directory of its own; `down` ends it.
    pub async fn up_beside(&self, dir: &Path, options: StackOptions) -> anyhow::Result<Self> {
        let other = Self::at(dir, &self.xtask);
        other.xtask(&["up", "--brokers", &options.brokers.to_string()]).await?;
        Ok(other)
    }

    /// Ends it, and removes its directory.
    pub async fn down(&self) -> anyhow::Result<()> {
        self.xtask(&["down"]).await
    }

    /// The URL of a MariaDB server, with a user who may do everything; the first is 1.
    pub fn mysql(&self, number: u8) -> anyhow::Result<String> {
        let state = self.state()?;
        Ok(format!("mysql://root:{}@127.0.0.1:{}", state.mysql_password, self.port(&format!("mariadb-{number}"))?))
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
        let brokers = self.state()?.servers.iter().filter(|server| server.name.starts_with("kafka-")).count();
        self.xtask(&["up", "--brokers", &brokers.to_string()]).await
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

    async fn xtask(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.xtask);
        command.arg("stack").args(arguments).arg("--dir").arg(&self.dir).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.with_context(|| format!("could not start {}", self.xtask.display()))?;
        if !output.status.success() {
            bail!("`xtask stack {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }
}
