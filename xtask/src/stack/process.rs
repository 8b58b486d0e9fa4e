//! Processes that outlive the command that started them, named so that a recycled pid is never taken for one of them.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// How long servers may take to end in an orderly way; their data is thrown away right after.
const ORDERLY_MAX: Duration = Duration::from_secs(15);
/// How long the system may take to remove a process that was killed.
const KILLED_MAX: Duration = Duration::from_secs(10);
/// How often ending processes are polled.
const POLL: Duration = Duration::from_millis(25);

/// A process by its pid and the moment it began: the pair never comes back, the pid does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// When it began, as the system counts it; compared, never computed with.
    pub(crate) started: String,
}

impl Process {
    /// The process that has this pid now.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        Some(Self { pid, started: started(pid)? })
    }

    /// Whether this very process still runs; one that ended and was not collected yet does not.
    pub(crate) fn runs(&self) -> bool {
        started(self.pid).is_some_and(|started| started == self.started)
    }

    pub(crate) fn send(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.runs()) {
            // It may end by itself just before the signal; then there is nothing left to do.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Ends these processes and waits for them, all at once; returns the pids of those that even a kill did not end.
pub(crate) fn end(processes: &[Process]) -> Vec<u32> {
    for (signal, limit) in [(Signal::TERM, ORDERLY_MAX), (Signal::KILL, KILLED_MAX)] {
        for process in processes {
            process.send(signal);
            // One that somebody stopped would not hear of it until it goes on.
            process.send(Signal::CONT);
        }
        let until = Instant::now() + limit;
        while processes.iter().any(Process::runs) && Instant::now() < until {
            std::thread::park_timeout(POLL);
        }
    }
    processes.iter().filter(|process| process.runs()).map(|process| process.pid).collect()
}

/// When the process began, counted in ticks since a boot that is named; nothing for a pid without a living process.
#[cfg(target_os = "linux")]
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = ticks_of(&stat)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{}+{ticks}", boot.trim()))
}

/// The start time in a line of `/proc/PID/stat`, unless the process has ended already.
#[cfg(target_os = "linux")]
fn ticks_of(stat: &str) -> Option<u64> {
    // The name of the program comes second, in brackets, and may itself hold brackets and blanks.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    // Field 22 of the line, where the state was field 3.
    fields.nth(18)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn started(pid: u32) -> Option<String> {
    let output = std::process::Command::new("ps")
        .args(["-o", "state=", "-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (state, began) = text.trim().split_once(' ')?;
    (!state.starts_with('Z')).then(|| began.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// A program that runs until it is told to end.
    fn waiting_program() -> std::process::Child {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn a_recycled_pid_is_another_process_and_an_ended_one_does_not_run_although_nobody_collected_it() {
        let mut child = waiting_program();
        let process = Process::of(child.id()).unwrap();
        let earlier = Process { started: format!("{}0", process.started), ..process.clone() };
        assert!(process.runs() && !earlier.runs());
        assert!(end(&[earlier]).is_empty());
        assert!(child.try_wait().unwrap().is_none(), "the signal went to a process that only shares the pid");

        assert!(end(&[process]).is_empty());
        assert_eq!(Process::of(child.id()), None);
        child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_name_with_brackets_does_not_shift_the_fields() {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
        assert_eq!(ticks_of(&format!("77 (a) Z (b) {fields}")), Some(4711));
        assert_eq!(ticks_of(&format!("77 (a) {}", fields.replace('S', "Z"))), None);
        assert_eq!(ticks_of("77 (a) S 1"), None);
    }
}
