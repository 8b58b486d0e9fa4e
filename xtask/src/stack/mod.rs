//! `cargo xtask stack`: real servers for development and tests, private to this checkout, gone without a trace.

mod config;
mod directory;
mod faster;
mod install;
mod kafka;
mod mariadb;
pub(crate) mod observe;
mod observed;
mod part;
mod probe;
mod process;
mod redis;
mod state;
mod up;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::interrupt::Interrupt;
use directory::Directory;
pub(crate) use install::ensure as ensure_installed;
pub(crate) use observed::ObservedStack;
use part::Part;
#[cfg(test)]
pub(crate) use process::Process;
use state::{Server, Shape, State};
use up::{Missing, Wanted};

/// Real servers for development and tests: MariaDB, Redis, Redis Cluster, Kafka, on free ports of 127.0.0.1.
///
/// Servers of your own are used in place of the stack's where these are set:
///   MADANG_TEST_MYSQL          two or more mysql://user:password@host:port, separated by commas
///   MADANG_TEST_REDIS          redis://host:port
///   MADANG_TEST_REDIS_CLUSTER  redis://host:port of the nodes, separated by commas
///   MADANG_TEST_KAFKA          host:port of the brokers, separated by commas
///
/// docs/stack.md says more.
#[derive(clap::Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum Command {
    /// Installs what is missing (Debian packages as root, Kafka by Maven) and starts two MariaDB servers, a Redis, a Redis
    /// Cluster of three nodes, and Kafka in KRaft mode; starts again what has ended, and nothing twice.
    Up {
        #[command(flatten)]
        scratch: Scratch,
        /// How many Kafka brokers, 1 or 3 (default: 1, and 3 with --replicas).
        #[arg(long, value_parser = brokers)]
        brokers: Option<u8>,
        /// A replica of each MariaDB server beside it, semi-synchronous, by GTID, and one of each node of the Redis Cluster.
        #[arg(long)]
        replicas: bool,
        /// Prometheus with the rules of deploy/prometheus, exporters of MariaDB, Redis and this host, and the JMX exporter in
        /// each broker.
        #[arg(long)]
        observe: bool,
    },
    /// Ends what `up` started, waits for it, and removes its directory.
    Down(Scratch),
    /// Says for each server whether it runs and answers, its port and version; fails when one does not.
    Status(Scratch),
    /// Prints a commented cluster.toml for the running stack.
    Config(Scratch),
    /// Prints the variables for the running stack, for a shell: eval "$(cargo xtask stack env)".
    Env(Scratch),
}

/// Where a stack is.
#[derive(clap::Args)]
pub(crate) struct Scratch {
    /// The scratch directory (default: one of this checkout, in the system's temporary directory).
    #[arg(long)]
    dir: Option<PathBuf>,
}

fn brokers(text: &str) -> Result<u8, &'static str> {
    text.parse().ok().filter(|count| [1, 3].contains(count)).ok_or("1 or 3")
}

impl Scratch {
    fn dir(&self) -> Result<PathBuf> {
        Ok(self.dir.as_ref().map(std::path::absolute).transpose()?.unwrap_or_else(directory::of_this_checkout))
    }

    /// The stack that `up` left there.
    fn stack(&self) -> Result<Stack> {
        let dir = self.dir()?;
        match State::load(&dir)? {
            Some(state) => Ok(Stack { dir, state }),
            None => bail!("there is no stack in {}: `cargo xtask stack up` starts one", dir.display()),
        }
    }
}

impl Command {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Self::Up { scratch, brokers, replicas, observe } => {
                let brokers = brokers.unwrap_or(if *replicas { 3 } else { 1 });
                let shape = Shape { brokers, replicas: *replicas, observe: observe.then_some(1) };
                run_up(&scratch.dir()?, shape)
            }
            Self::Down(scratch) => run_down(&scratch.dir()?),
            Self::Status(scratch) => run_status(&scratch.stack()?.state),
            Self::Config(scratch) => {
                let (stack, secret) = (scratch.stack()?, format!("{:032x}", rand::random::<u128>()));
                print!("{}", config::render(|part| stack.state.members(part, part.own().as_deref()), &secret)?);
                Ok(())
            }
            Self::Env(scratch) => {
                let variables = scratch.stack()?.environment();
                variables.iter().for_each(|(name, value)| println!("{}", export(name, value)));
                Ok(())
            }
        }
    }
}

fn run_up(dir: &Path, shape: Shape) -> Result<()> {
    let began = Instant::now();
    let wanted = Wanted { shape, parts: &Part::ALL, is_for_tests: false };
    let (state, missing) = up::up(dir, wanted, &Interrupt::listen()?)?;
    print!("{}", table(&state));
    if !missing.is_empty() {
        bail!("not started:\n{}What runs goes on; `up` tries the rest again, `down` ends it", reasons(&missing));
    }
    eprintln!("\nup in {:.1} s, in {}", began.elapsed().as_secs_f64(), dir.display());
    Ok(())
}

fn reasons(missing: &[Missing]) -> String {
    missing.iter().map(|Missing { part, why }| format!("{}: {why:#}\n", part.name())).collect()
}

fn run_down(dir: &Path) -> Result<()> {
    let began = Instant::now();
    // Once begun it is finished: Ctrl-C would leave half of it.
    let _held = Interrupt::listen()?;
    if down(dir)? {
        eprintln!("down in {:.1} s; {} is removed", began.elapsed().as_secs_f64(), dir.display());
    } else {
        eprintln!("there is no stack in {}", dir.display());
    }
    Ok(())
}

/// Ends the stack in `dir` and removes the directory; false when there was none.
fn down(dir: &Path) -> Result<bool> {
    if State::load(dir)?.is_none() {
        return Ok(false);
    }
    let directory = Directory::take(dir)?;
    // Read again: until now another command may have been at work.
    let Some(state) = State::load(directory.path())? else { return Ok(false) };
    let processes: Vec<_> = state.servers.iter().filter_map(|server| server.process.clone()).collect();
    let still_running = process::end(&processes);
    if !still_running.is_empty() {
        bail!("still running: {still_running:?}; {} is kept", directory.path().display());
    }
    directory.remove()?;
    Ok(true)
}

fn run_status(state: &State) -> Result<()> {
    print!("{}", table(state));
    for part in Part::ALL.into_iter().filter(|part| part.own().is_some()) {
        println!("{:<18} your own, in {}", part.name(), part.variable().unwrap_or_default());
    }
    if state.servers.iter().any(|server| status(server, state.brokers).1.is_err()) {
        bail!("not every server answers; `cargo xtask stack up` starts again what has ended");
    }
    Ok(())
}

/// One line a server, for people.
fn table(state: &State) -> String {
    let mut text = format!("{:<18} {:<11} {:>6}  {:<8} {}\n", "server", "state", "port", "answers", "version");
    for server in Part::ALL.into_iter().flat_map(|part| state.of(part)) {
        let (runs, version) = status(server, state.brokers);
        let (answers, version) = match version {
            Ok(version) => ("yes", version),
            Err(error) => ("NO", format!("{} ({error:#})", server.version)),
        };
        text += &format!("{:<18} {runs:<11} {:>6}  {answers:<8} {version}\n", server.name, server.port);
    }
    text
}

/// Whether a server runs, and the version that it tells. One that does not run is not asked: somebody else's server may have
/// taken its port since.
fn status(server: &Server, brokers: u8) -> (&'static str, Result<String>) {
    match &server.process {
        None => ("not started", Err(anyhow::anyhow!("never asked to start"))),
        Some(process) if process.runs() => ("running", probe::version_with_peers(server, usize::from(brokers))),
        Some(_) => ("ended", Err(anyhow::anyhow!("its log is {}", server.log.display()))),
    }
}

/// A line that sets a variable in any shell of the Bourne family, whatever the value holds.
fn export(name: &str, value: &str) -> String {
    format!("export {name}='{}'", value.replace('\'', r"'\''"))
}

/// A stack that was brought up.
struct Stack {
    dir: PathBuf,
    state: State,
}

impl Stack {
    /// The variables by which tests find the servers: those of the stack, or the developer's own; none for a part that is
    /// not there.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let of = |part: Part| {
            let addresses = self.state.addresses(part, part.own().as_deref());
            Some((part.variable()?, addresses.join(","))).filter(|_| !addresses.is_empty())
        };
        Part::ALL.into_iter().filter_map(of).collect()
    }
}

/// A stack for one run of the tests, in a directory of its own. It is taken down also when this task panics.
pub(crate) struct TestStack(Stack);

impl TestStack {
    /// Brings all of it up, or fails with everything that cannot be had.
    pub(crate) fn up(interrupt: &Interrupt) -> Result<Self> {
        let dir = directory::of_a_test_run();
        let shape = Shape { brokers: 1, replicas: false, observe: None };
        let wanted = Wanted { shape, parts: &Part::ALL, is_for_tests: true };
        let (state, missing) = up::up(&dir, wanted, interrupt)?;
        let stack = Self(Stack { dir, state });
        if !missing.is_empty() {
            stack.down()?;
            bail!("a missing server is a failure, and --no-stack leaves its suites out:\n{}", reasons(&missing));
        }
        Ok(stack)
    }

    /// The variables by which tests find the servers.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        self.0.environment()
    }

    /// Where it is.
    pub(crate) fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Whether every server is one that was started for this run, and none a developer's own.
    pub(crate) fn is_all_ours(&self) -> bool {
        Part::ALL.into_iter().all(|part| part.own().is_none())
    }

    /// Ends it and removes its directory; after that there is nothing left to do.
    pub(crate) fn down(&self) -> Result<()> {
        down(&self.0.dir).map(drop)
    }
}

impl Drop for TestStack {
    fn drop(&mut self) {
        let _ = self.down();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::state::tests::server;

    #[test]
    fn a_shell_reads_back_what_env_prints() {
        let value = "mysql://root:it's \"$HOME\"@127.0.0.1:1,x";
        let script = format!("{}\nprintf %s \"$NAME\"", export("NAME", value));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), value);
    }

    #[test]
    fn a_server_that_ended_one_that_does_not_answer_and_one_that_never_started_differ() {
        let mut state = State::new(1, false);
        let ended = Process { pid: std::process::id(), started: "before".into() };
        let port = state.reserve("free", Part::Nginx, "log".into()).unwrap().port;
        state.servers = vec![
            Server { process: Some(ended), ..server("mariadb-1", Part::Mysql, port) },
            Server { process: Process::of(std::process::id()), ..server("redis", Part::Redis, port) },
            server("kafka-1", Part::Kafka, port),
        ];
        assert!(run_status(&state).is_err());
        let (table, port) = (table(&state), port.to_string());
        let lines: Vec<Vec<_>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0][..4], ["mariadb-1", "ended", port.as_str(), "NO"]);
        assert_eq!(lines[1][..4], ["redis", "running", port.as_str(), "NO"]);
        assert_eq!(lines[2][..3], ["kafka-1", "not", "started"]);
    }
}
