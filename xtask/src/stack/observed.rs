//! A stack that is observed, for tests that break it on purpose: its servers can be killed, stopped and started again one by
//! one, and Prometheus' clock runs faster.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use super::part::Part;
use super::state::{Server, Shape, State};
use super::up::{self, Wanted};
use super::{config, directory, down, kafka, observe, reasons};
use crate::http;
use crate::interrupt::Interrupt;
use crate::program;

/// The parts that a site and its observation need.
const PARTS: [Part; 5] = [Part::Mysql, Part::MysqlReplica, Part::Redis, Part::Kafka, Part::Observe];

/// A running stack of its own; taken down also when this task panics.
pub(crate) struct ObservedStack {
    dir: PathBuf,
    shape: Shape,
    interrupt: Interrupt,
    /// One `up` at a time.
    at_work: Mutex<()>,
}

impl ObservedStack {
    /// Brings it up, in a new directory, with every time of Prometheus divided by `speed`.
    pub(crate) fn up(speed: u32, interrupt: &Interrupt) -> Result<Self> {
        let own = Part::ALL.into_iter().find(|part| part.own().is_some()).and_then(Part::variable);
        if let Some(name) = own {
            bail!("{name} names servers of yours, which are not ours to break: unset it");
        }
        let shape = Shape { brokers: 1, replicas: true, observe: Some(speed) };
        let (dir, at_work) = (directory::of_a_test_run(), Mutex::new(()));
        // Made before anything is started, so that whatever has started ends with it.
        let stack = Self { dir, shape, interrupt: interrupt.clone(), at_work };
        stack.start(&PARTS)?;
        Ok(stack)
    }

    /// Starts what does not run of these parts.
    fn start(&self, parts: &[Part]) -> Result<()> {
        let _one = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = Wanted { shape: self.shape, parts, is_for_tests: true };
        let (_, missing) = up::up(&self.dir, wanted, &self.interrupt)?;
        ensure!(missing.is_empty(), "not started:\n{}", reasons(&missing));
        Ok(())
    }

    /// Starts a server again that was killed.
    pub(crate) fn restart(&self, name: &str) -> Result<()> {
        let part = self.server(name)?.part;
        self.start(&[part])
    }

    /// Sends a signal to a server.
    pub(crate) fn signal(&self, name: &str, signal: Signal) -> Result<()> {
        let process = self.server(name)?.process.with_context(|| format!("{name} was never started"))?;
        process.send(signal);
        Ok(())
    }

    /// Runs a statement as `root` of a relational server, and gives back what it prints.
    pub(crate) fn sql(&self, name: &str, statement: &str) -> Result<String> {
        let (server, password) = (self.server(name)?, self.state()?.mysql_password);
        let mut command = Command::new(program::get("mariadb")?);
        command.args(["--host=127.0.0.1", "--user=root", "--skip-column-names", "--batch"]);
        command.arg(format!("--port={}", server.port)).args(["--execute", statement]).env("MYSQL_PWD", password);
        output(&mut command)
    }

    /// Sends a command to Redis.
    pub(crate) fn redis(&self, arguments: &[&str]) -> Result<String> {
        let port = self.server("redis")?.port.to_string();
        output(Command::new(program::get("redis-cli")?).args(["-p", &port]).args(arguments))
    }

    /// Runs one of Kafka's own tools, with something to read.
    pub(crate) fn kafka(&self, tool: &str, arguments: &[&str], input: &str) -> Result<String> {
        let mut command = Command::new(program::get("java")?);
        command.args(["-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp"]).arg(kafka::jars::fetched()?.join("*")).arg(tool);
        command.args(["--bootstrap-server", &format!("127.0.0.1:{}", self.server("kafka-1")?.port)]).args(arguments);
        let file = self.dir.join("kafka-input");
        std::fs::write(&file, input)?;
        command.stdin(std::fs::File::open(&file)?);
        output(&mut command)
    }

    /// The address of its Prometheus.
    pub(crate) fn prometheus(&self) -> Result<String> {
        Ok(format!("127.0.0.1:{}", self.server(observe::PROMETHEUS)?.port))
    }

    /// Has it scrape these processes.
    pub(crate) fn scrape(&self, processes: &[String]) -> Result<()> {
        observe::scrape(&self.dir, processes)
    }

    /// The `cluster.toml` of a site on it.
    pub(crate) fn cluster_toml(&self) -> Result<String> {
        let (state, secret) = (self.state()?, format!("{:032x}", rand::random::<u128>()));
        // The file names a Redis Cluster in a comment, and there is none.
        let addresses = |part: Part| match part {
            Part::RedisCluster => state.addresses(Part::Redis, None),
            part => state.addresses(part, None),
        };
        config::render(addresses, &secret)
    }

    /// Where it is.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A port that nobody of the stack has.
    pub(crate) fn free_port(&self) -> Result<u16> {
        self.state()?.free_port(&[])
    }

    /// Whether Prometheus has read something of every job.
    pub(crate) fn scrapes_all(&self) -> Result<bool> {
        let path = format!("/api/v1/query?query={}", http::escaped("count(count by (job) (up == 1))"));
        let answer = http::get(&self.prometheus()?, &path)?.json()?;
        Ok(answer["data"]["result"][0]["value"][1] == "5")
    }

    fn server(&self, name: &str) -> Result<Server> {
        let servers = self.state()?.servers;
        servers.into_iter().find(|server| server.name == name).with_context(|| format!("no server is called {name}"))
    }

    fn state(&self) -> Result<State> {
        State::load(&self.dir)?.context("the stack is gone")
    }
}

impl Drop for ObservedStack {
    fn drop(&mut self) {
        let _ = down(&self.dir);
    }
}

fn output(command: &mut Command) -> Result<String> {
    let found = command.output()?;
    let (said, complained) = (String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr));
    ensure!(found.status.success(), "{:?} failed ({}): {said}{complained}", command.get_program(), found.status);
    Ok(said.into_owned())
}
