//! Programs that tasks start: where they are, how they are run to their end or ended, and what their log said.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt::Interrupt;

/// Where Debian keeps servers; often missing from the path of people.
const SERVER_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/// How often a running program is polled.
const POLL: Duration = Duration::from_millis(50);
/// How long a program that was told to end may clean up before it is killed.
const CLEAN_UP_MAX: Duration = Duration::from_secs(10);
/// How much of the end of a log is shown.
const TAIL_LINES: usize = 20;

/// Finds a command as a shell would, and where servers are.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SERVER_FOLDERS.iter().map(PathBuf::from));
    let is_executable = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    folders.map(|folder| folder.join(name)).find(is_executable)
}

/// Finds a command that must be there.
pub(crate) fn get(name: &str) -> Result<PathBuf> {
    find(name).with_context(|| format!("`{name}` is not installed"))
}

/// Starts a program in a group of its own, so that Ctrl-C reaches us alone, with its output added to a log.
pub(crate) fn spawn(command: &mut Command, log: &Path) -> Result<Child> {
    let output = open_log(log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).process_group(0);
    command.spawn().with_context(|| format!("could not start `{}`", Path::new(command.get_program()).display()))
}

fn open_log(log: &Path) -> Result<File> {
    let opened = OpenOptions::new().create(true).append(true).open(log);
    opened.with_context(|| format!("could not write {}", log.display()))
}

/// Runs a program that must succeed; a failure shows the end of its output.
pub(crate) fn run(command: &mut Command, log: &Path, limit: Duration, interrupt: &Interrupt) -> Result<()> {
    let status = run_to_end(command, log, limit, interrupt)?;
    if !status.success() {
        bail!("`{}` failed ({status}):\n{}", Path::new(command.get_program()).display(), tail(log));
    }
    Ok(())
}

/// Runs a program to its end, its output going to a log. Past the limit, or interrupted, it is ended with what it started.
pub(crate) fn run_to_end(
    command: &mut Command,
    log: &Path,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<ExitStatus> {
    interrupt.check()?;
    let mut child = spawn(command, log)?;
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            writeln!(open_log(log)?, "\nended by xtask: it took longer than {} s", limit.as_secs())?;
            return end(&mut child);
        }
        if let Err(interrupted) = interrupt.pause(POLL) {
            end(&mut child)?;
            return Err(interrupted.into());
        }
    }
}

/// Tells a program and its children to end, kills those that do not, and waits for it.
fn end(child: &mut Child) -> Result<ExitStatus> {
    signal_group(child, Signal::TERM);
    let until = Instant::now() + CLEAN_UP_MAX;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
        std::thread::park_timeout(POLL);
    }
    signal_group(child, Signal::KILL);
    Ok(child.wait()?)
}

/// A group bears the number of the program that it was made for. One that has ended meanwhile is what was wanted.
fn signal_group(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}

/// The last lines of a log, indented, for an error message.
pub(crate) fn tail(log: &Path) -> String {
    let bytes = match std::fs::read(log) {
        Ok(bytes) => bytes,
        Err(error) => return format!("    (could not read {}: {error})", log.display()),
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().collect();
    let shown = lines[lines.len().saturating_sub(TAIL_LINES)..].iter().map(|line| format!("    {line}\n"));
    format!("{}    ({})", shown.collect::<String>(), log.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_shows_the_last_lines_of_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; echo broken >&2; exit 3";
        let error = run(&mut shell(script), &log, LONG, &Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("    broken\n"), "{error}");
        assert!(error.contains("    line 30\n") && !error.contains("line 11\n"), "{error}");
        run(&mut shell("exit 0"), &log, LONG, &Interrupt::default()).unwrap();
    }

    #[test]
    fn a_program_past_its_limit_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let limit = Duration::from_millis(200);
        // `cat` would wait for ever on the pipe that its sibling keeps open.
        let error = run(&mut shell("sleep 600 | cat"), &log, limit, &Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains("took longer"), "{error}");
    }

    #[test]
    fn an_interrupt_ends_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let interrupt = Interrupt::default();
        let result = std::thread::scope(|scope| {
            let runner = scope.spawn(|| run(&mut shell("echo begun; sleep 600"), &log, LONG, &interrupt));
            let until = Instant::now() + LONG;
            while std::fs::read_to_string(&log).unwrap_or_default().is_empty() && Instant::now() < until {
                std::thread::yield_now();
            }
            interrupt.raise();
            runner.join().unwrap()
        });
        assert!(result.unwrap_err().is::<crate::interrupt::Interrupted>());
    }

    #[test]
    fn commands_are_found_by_name() {
        assert!(find("sh").unwrap().is_absolute());
        assert_eq!(find("no-such-command-here"), None);
    }
}
