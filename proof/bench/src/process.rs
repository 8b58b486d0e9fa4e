//! A server as a process of its own: started, waited for, looked at from outside, and never left behind.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What a server prints when it can be asked.
const LISTENING: &str = "listening on http://";
/// Start on a large database may have to recover its write-ahead log first.
const START_MAX_MS: u64 = 60_000;
const STOP_MAX_MS: u64 = 30_000;
const STOP_POLL_MS: u64 = 10;
/// How much of a failed server's log is shown.
const LOG_TAIL_LINES: usize = 20;

/// A running server.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// From its start until it said that it listens.
    pub(crate) started_in: Duration,
}

/// What a process holds in memory, in millions of bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    /// Resident now.
    pub(crate) resident_mb: f64,
    /// The most that was resident at any time.
    pub(crate) peak_mb: f64,
}

impl Server {
    /// Starts a command and waits until it listens; what it logs goes to `log`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let stderr = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("cannot start {}", PathBuf::from(command.get_program()).display()))?;
        let address = child.stdout.take().context("its output is not ours").and_then(listening_address);
        let started_in = started.elapsed();
        match address {
            Ok(address) => Ok(Self { child, address, started_in }),
            Err(error) => {
                end(&mut child);
                Err(error.context(format!("the server did not start; its log ends:\n{}", tail(log))))
            }
        }
    }

    /// What the process holds in memory.
    pub(crate) fn memory(&self) -> Result<Memory> {
        let file = format!("/proc/{}/status", self.child.id());
        Memory::parse(&fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?)
    }

    /// Asks the server to drain, and waits until it has.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        if !asked.is_ok_and(|status| status.success()) {
            bail!("could not ask the server to stop");
        }
        let give_up = Instant::now() + Duration::from_millis(STOP_MAX_MS);
        while Instant::now() < give_up {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the server ended with {status}"),
                None => tokio::time::sleep(Duration::from_millis(STOP_POLL_MS)).await,
            }
        }
        bail!("the server was still draining after {STOP_MAX_MS} ms")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // Both fail only when the process has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads the output in a thread until the end of the process, so that it never blocks on a full pipe.
fn listening_address(output: ChildStdout) -> Result<SocketAddr> {
    let (found, wait) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix(LISTENING) {
                // Nobody waits any more for a second such line.
                let _ = found.send(address.trim_end_matches('/').to_owned());
            }
        }
    });
    match wait.recv_timeout(Duration::from_millis(START_MAX_MS)) {
        Ok(address) => address.parse().with_context(|| format!("`{address}` is no address")),
        Err(RecvTimeoutError::Timeout) => bail!("it did not listen within {START_MAX_MS} ms"),
        Err(RecvTimeoutError::Disconnected) => bail!("it ended before it listened"),
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
}

impl Memory {
    fn parse(status: &str) -> Result<Self> {
        let mb = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
            let kib = line.and_then(|value| value.trim().strip_suffix(" kB")?.parse::<f64>().ok());
            kib.map(|kib| kib * 1_024.0 / 1e6).with_context(|| format!("the process's status lacks {field}"))
        };
        Ok(Self { resident_mb: mb("VmRSS")?, peak_mb: mb("VmHWM")? })
    }
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
    fn memory_is_read_from_the_process_status() {
        let memory = Memory::parse("Name:\tx\nVmHWM:\t 2000000 kB\nVmRSS:\t 1000000 kB\n").unwrap();
        assert_eq!(memory, Memory { resident_mb: 1_024.0, peak_mb: 2_048.0 });
        assert!(Memory::parse("Name:\tx\n").is_err());
    }

    #[tokio::test]
    async fn a_server_is_waited_for_and_asked_to_stop() {
        let folder = tempfile::tempdir().unwrap();
        let script =
            "trap 'exit 0' TERM; echo hello; echo listening on http://127.0.0.1:81; while :; do read -t 1 x; done";
        let mut command = Command::new("bash");
        let server = Server::start(command.args(["-c", script]), &folder.path().join("log")).unwrap();
        assert_eq!(server.address.port(), 81);
        assert!(server.memory().unwrap().resident_mb > 0.0);
        server.stop().await.unwrap();
    }

    #[test]
    fn a_server_that_fails_shows_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let result = Server::start(&mut shell("echo disk on fire >&2; exit 1"), &folder.path().join("log"));
        let error = format!("{:#}", result.err().expect("it never listened"));
        assert!(error.contains("disk on fire") && error.contains("it ended before it listened"), "{error}");
    }
}
