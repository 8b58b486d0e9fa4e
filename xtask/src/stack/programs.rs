//! Programs that run to their end: where they are, how long they may take, and what their output said when they fail.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt::Interrupt;

/// Where Debian keeps servers; often missing from the path of people.
const SERVER_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/// How often a running program is looked at.
const LOOK_MS: u64 = 50;
/// How long a program that was told to end may tidy up before it is killed.
const TIDY_UP_S: u64 = 10;
/// How much of the end of a log is shown.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: u64 = 16 * 1024;

/// Finds a command as a shell would, and where servers are.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SERVER_FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| is_executable(file))
}

/// Finds a command that was seen or installed before.
pub(crate) fn get(name: &str) -> Result<PathBuf> {
    find(name).with_context(|| format!("`{name}` is not installed"))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Starts a program in a group of its own, so that Ctrl-C reaches us alone, with its output added to a log.
pub(crate) fn spawn(command: &mut Command, log: &Path) -> Result<Child> {
    let output = open_log(log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).process_group(0);
    let name = Path::new(command.get_program()).display().to_string();
    command.spawn().with_context(|| format!("could not start `{name}`"))
}

fn open_log(log: &Path) -> Result<File> {
    let opened = OpenOptions::new().create(true).append(true).open(log);
    opened.with_context(|| format!("could not write {}", log.display()))
}

/// How a program takes it when it is broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// What it was making is thrown away: it is told to end, and killed when it does not.
    AtOnce,
    /// It changes the machine, as apt-get does: it is told as by Ctrl-C, and ends where it is safe to.
    WhenSafe,
}

/// Runs a program to its end; a failure shows the end of its output.
pub(crate) fn run(command: &mut Command, log: &Path, limit: Duration, interrupt: &Interrupt) -> Result<()> {
    run_ending(command, log, limit, interrupt, Ending::AtOnce)
}

/// The same, for a program that may need its time when it is broken off.
pub(crate) fn run_ending(
    command: &mut Command,
    log: &Path,
    limit: Duration,
    interrupt: &Interrupt,
    ending: Ending,
) -> Result<()> {
    interrupt.check()?;
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut child = spawn(command, log)?;
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            if status.success() {
                return Ok(());
            }
            bail!("`{name}` failed ({status}):\n{}", tail(log));
        }
        if Instant::now() >= until {
            end(&mut child, ending);
            bail!("`{name}` took longer than {} s:\n{}", limit.as_secs(), tail(log));
        }
        if let Err(interrupted) = interrupt.pause(Duration::from_millis(LOOK_MS)) {
            end(&mut child, ending);
            return Err(interrupted.into());
        }
    }
}

/// Tells a program and its children to end, and waits for it.
fn end(child: &mut Child, ending: Ending) {
    match ending {
        Ending::AtOnce => {
            signal_group(child.id(), Signal::TERM);
            let until = Instant::now() + Duration::from_secs(TIDY_UP_S);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::park_timeout(Duration::from_millis(LOOK_MS));
            }
            signal_group(child.id(), Signal::KILL);
        }
        Ending::WhenSafe => signal_group(child.id(), Signal::INT),
    }
    let _ = child.wait();
}

/// Sends a signal to the group that a program was started in, which bears its number.
pub(crate) fn signal_group(id: u32, signal: Signal) {
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // A group that has ended meanwhile is what was wanted.
        let _ = kill_process_group(group, signal);
    }
}

/// The last lines of a log, indented, for an error message.
pub(crate) fn tail(log: &Path) -> String {
    match last_bytes(log) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let lines: Vec<_> = text.lines().collect();
            let shown = &lines[lines.len().saturating_sub(TAIL_LINES)..];
            let shown: Vec<_> = shown.iter().map(|line| format!("    {line}")).collect();
            format!("{}\n    ({})", shown.join("\n"), log.display())
        }
        Err(error) => format!("    (could not read {}: {error})", log.display()),
    }
}

fn last_bytes(log: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::secret;

    const LONG: Duration = Duration::from_secs(60);

    fn log() -> PathBuf {
        std::env::temp_dir().join(format!("madang-log-{}", secret::password().unwrap()))
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_shows_the_last_lines_of_the_output() {
        let log = log();
        let script = "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; echo broken >&2; exit 3";
        let error = run(&mut shell(script), &log, LONG, &Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("    broken\n"), "{error}");
        assert!(error.contains("    line 30\n") && !error.contains("line 11\n"), "{error}");
        run(&mut shell("exit 0"), &log, LONG, &Interrupt::default()).unwrap();
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_program_past_its_limit_is_ended_with_its_children() {
        let log = log();
        let limit = Duration::from_millis(200);
        // `cat` would wait for ever on the pipe that its sibling keeps open.
        let error = run(&mut shell("sleep 600 | cat"), &log, limit, &Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains("took longer"), "{error}");
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn an_interrupt_ends_a_program() {
        let log = log();
        let interrupt = Interrupt::default();
        let other = interrupt.clone();
        let runner = std::thread::spawn({
            let log = log.clone();
            move || run(&mut shell("echo begun; sleep 600"), &log, LONG, &other)
        });
        let until = Instant::now() + LONG;
        while std::fs::read_to_string(&log).unwrap_or_default().is_empty() && Instant::now() < until {
            std::thread::yield_now();
        }
        interrupt.raise();
        let error = runner.join().unwrap().unwrap_err();
        assert!(error.is::<crate::interrupt::Interrupted>(), "{error}");
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn commands_are_found_by_name() {
        assert!(find("sh").unwrap().is_absolute());
        assert_eq!(find("no-such-command-here"), None);
    }
}
