//! `cargo xtask lab`: builds the Reliability Lab, gives it servers that it may kill, and leaves nothing behind.

mod servers;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::interrupt::Interrupt;
use crate::stack::TestStack;
use crate::workspace;
use servers::Servers;

/// The Reliability Lab: each protection of an outbox system broken on purpose, on real servers, in numbers.
///
/// docs/lab.md tells the story, and how to read the report.
#[derive(clap::Subcommand)]
pub(crate) enum Lab {
    /// Lists the experiments with their questions.
    List,
    /// Runs all experiments, or those named, on private servers of their own (release build), and writes the report.
    ///
    /// Fails unless every verdict is "shown". A full run takes up to 30 minutes on 2 cores. Ctrl-C ends it, with everything
    /// it started; the report holds what was done by then.
    Run(Run),
    /// Writes the figures and pictures of a run into docs/lab.md and docs/pictures/lab.
    Write {
        /// The report of a full run.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Also if it was measured at another commit than that of these sources; the page then says so.
        #[arg(long)]
        of_another_commit: bool,
    },
}

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Run {
    /// The experiments; all of them if none is named.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The same claims with fewer trials, within five minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Where report.html, report.json and the pictures go (default: target/lab).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where chance begins: the same seed draws the same faults, as far as real servers allow.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Leaves servers, tables and logs for a look, and prints how to connect and how to end them.
    #[arg(long)]
    keep: bool,
}

/// How often the running Lab is polled.
const POLL: Duration = Duration::from_millis(100);
/// How long it may take to stop in order before it is killed with its programs.
const STOP_MAX: Duration = Duration::from_secs(60);

impl Lab {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Self::List => workspace::run(Command::new(build(Profile::Debug)?).arg("list")),
            Self::Run(run) => run.run(),
            Self::Write { from, of_another_commit } => {
                let from = from.clone().unwrap_or_else(|| workspace::target().join("lab/report.json"));
                let mut write = Command::new(build(Profile::Debug)?);
                write.args(["write", "--from"]).arg(from).args(of_another_commit.then_some("--of-another-commit"));
                workspace::run(&mut write)
            }
        }
    }
}

impl Run {
    fn run(&self) -> Result<()> {
        let program = build(Profile::Release)?;
        // Nobody waits for servers to hear of a misspelled name.
        let mut check = Command::new(&program);
        workspace::run(check.arg("list").args(&self.ids).stdout(Stdio::null()))?;
        let interrupt = Interrupt::listen()?;
        let servers = Servers::up(&interrupt)?;
        let outcome = self.on(&program, servers.dir(), &interrupt);
        if self.keep {
            print!("{}", servers.keep()?);
        } else {
            servers.down()?;
        }
        outcome
    }

    fn on(&self, program: &Path, stack: &Path, interrupt: &Interrupt) -> Result<()> {
        let mut command = Command::new(program);
        command.arg("run").args(&self.ids).args(["--seed", &self.seed.to_string()]);
        command.arg("--out").arg(self.out.clone().unwrap_or_else(|| workspace::target().join("lab")));
        command.args(self.quick.then_some("--quick")).args(self.keep.then_some("--keep"));
        command.arg("--stack").arg(stack).arg("--xtask").arg(this_program()?);
        servers::without_own(&mut command);
        let status = watched(&mut command, interrupt)?;
        interrupt.check()?;
        workspace::succeeded(&command, status).context("not every verdict is \"shown\" (see above)")
    }
}

/// The part of `cargo xtask test`: the quick run of the debug build, which is compiled, on the servers of the tests. Servers of
/// a developer's own are not ours to kill: then it has some of its own.
pub(crate) fn step(stack: &TestStack, interrupt: &Interrupt) -> Result<()> {
    let out = workspace::target().join("lab-quick");
    let run = Run { ids: Vec::new(), quick: true, out: Some(out), seed: 1, keep: false };
    let program = workspace::target().join("debug/madang-lab");
    if stack.is_all_ours() {
        return run.on(&program, stack.dir(), interrupt);
    }
    let servers = Servers::up(interrupt)?;
    let outcome = run.on(&program, servers.dir(), interrupt);
    servers.down()?;
    outcome
}

#[derive(Clone, Copy)]
enum Profile {
    Debug,
    Release,
}

/// Builds the Lab, and says where its program is.
fn build(profile: Profile) -> Result<PathBuf> {
    let (folder, flag) = match profile {
        Profile::Debug => ("debug", None),
        Profile::Release => ("release", Some("--release")),
    };
    let program = workspace::target().join(folder).join("madang-lab");
    if !program.exists() {
        eprintln!("building the Lab: some minutes, the first time");
    }
    let mut cargo = workspace::cargo();
    workspace::run(cargo.args(["build", "--quiet", "--package", "madang-lab"]).args(flag))?;
    Ok(program)
}

fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("xtask does not know where it is")
}

/// Runs a program in a group of its own, on our terminal. Interrupted, it is told to stop; whatever is left of its group when
/// it has ended, or has not in time, is killed.
pub(crate) fn watched(command: &mut Command, interrupt: &Interrupt) -> Result<ExitStatus> {
    interrupt.check()?;
    let started = command.process_group(0).spawn();
    let mut child =
        started.with_context(|| format!("could not start {}", Path::new(command.get_program()).display()))?;
    let status = wait(&mut child, interrupt);
    if let Some(group) = pid(&child) {
        // Mostly there is nobody left.
        let _ = kill_process_group(group, Signal::KILL);
    }
    match status? {
        Some(status) => Ok(status),
        None => bail!("it did not stop within {} s and was killed", STOP_MAX.as_secs()),
    }
}

/// How it ended; nothing if it did not, although it was told to.
fn wait(child: &mut Child, interrupt: &Interrupt) -> Result<Option<ExitStatus>> {
    while interrupt.pause(POLL).is_ok() {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
    }
    if let Some(pid) = pid(child) {
        // It may have ended this very moment.
        let _ = kill_process(pid, Signal::TERM);
    }
    let until = Instant::now() + STOP_MAX;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::park_timeout(POLL);
    }
    Ok(None)
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_program_leaves_behind_is_killed_with_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; exit 3", note.display());
        let status = watched(&mut shell(&script), &Interrupt::default()).unwrap();
        assert_eq!(status.code(), Some(3));
        gone(&note);
    }

    #[test]
    fn an_interrupt_lets_a_program_stop_in_order() {
        let (folder, interrupt) = (tempfile::tempdir().unwrap(), Interrupt::default());
        let note = folder.path().join("pid");
        let script =
            format!("trap 'kill $child; exit 130' TERM; sleep 600 & child=$!; echo $child > {}; wait", note.display());
        let status = std::thread::scope(|scope| {
            let running = scope.spawn(|| watched(&mut shell(&script), &interrupt));
            let until = Instant::now() + Duration::from_secs(60);
            while std::fs::read_to_string(&note).unwrap_or_default().is_empty() && Instant::now() < until {
                std::thread::yield_now();
            }
            interrupt.raise();
            running.join().unwrap().unwrap()
        });
        assert_eq!(status.code(), Some(130));
        gone(&note);
    }

    fn gone(note: &Path) {
        let pid: u32 = std::fs::read_to_string(note).unwrap().trim().parse().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while crate::stack::Process::of(pid).is_some() {
            assert!(Instant::now() < until, "{pid} runs on");
            std::thread::yield_now();
        }
    }
}
