//! Runs test programs, a few at once: many of them wait for servers and clocks more than they compute. The output of each is
//! shown as a whole when it has ended.

use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::interrupt::Interrupt;
use crate::program;

/// A program that has not ended by then hangs, and is ended.
const PROGRAM_MAX: Duration = Duration::from_secs(30 * 60);

/// A program to run, under a name.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) command: Command,
}

/// A program that has ended.
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) status: ExitStatus,
    /// Everything it printed.
    pub(super) output: String,
    pub(super) took: Duration,
}

/// Runs the jobs in their order, so many at once, and calls `report` with each that has ended. An interrupt ends them all,
/// with what they started.
pub(super) fn run(
    jobs: Vec<Job>,
    at_once: usize,
    interrupt: &Interrupt,
    report: impl FnMut(&Ended) + Send,
) -> Result<()> {
    let logs = tempfile::tempdir().context("could not make a folder for the output of tests")?;
    let (jobs, report) = (Mutex::new(jobs.into_iter().enumerate()), Mutex::new(report));
    let work = || {
        loop {
            let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, Job { name, mut command })) = next else { return Ok(()) };
            let (log, started) = (logs.path().join(number.to_string()), Instant::now());
            let status = program::run_to_end(&mut command, &log, PROGRAM_MAX, interrupt).context(name.clone())?;
            let output = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
            let ended = Ended { name, status, output, took: started.elapsed() };
            report.lock().unwrap_or_else(PoisonError::into_inner)(&ended);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once.max(1)).map(|_| scope.spawn(work)).collect();
        let results: Vec<_> =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("a runner panicked"))).collect();
        results.into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.to_owned(), command }
    }

    #[test]
    fn each_is_reported_once_with_all_it_printed() {
        let mut reported = Vec::new();
        let jobs = vec![shell("a", "echo out; echo err >&2; exit 3"), shell("b", "echo b"), shell("c", "true")];
        run(jobs, 2, &Interrupt::default(), |ended| {
            reported.push((ended.name.clone(), ended.status.code(), ended.output.clone()));
        })
        .unwrap();
        reported.sort();
        let expected = [("a", 3, "out\nerr\n"), ("b", 0, "b\n"), ("c", 0, "")];
        assert_eq!(reported, expected.map(|(name, code, output)| (name.to_owned(), Some(code), output.to_owned())));
    }

    #[test]
    fn two_at_once_run_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        // Each waits for the other's mark.
        let meet = |own: &str, other: &str| {
            let (own, other) = (folder.path().join(own), folder.path().join(other));
            format!("touch {}; while [ ! -e {} ]; do :; done", own.display(), other.display())
        };
        let jobs = vec![shell("a", &meet("a", "b")), shell("b", &meet("b", "a"))];
        let mut ended = 0;
        run(jobs, 2, &Interrupt::default(), |_| ended += 1).unwrap();
        assert_eq!(ended, 2);
    }

    #[test]
    fn an_interrupt_ends_the_tests_and_what_they_started_and_begins_nothing_more() {
        let (interrupt, folder) = (Interrupt::default(), tempfile::tempdir().unwrap());
        let pid = folder.path().join("pid");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let until = Instant::now() + Duration::from_secs(60);
                while !pid.exists() && Instant::now() < until {
                    std::thread::yield_now();
                }
                interrupt.raise();
            });
            // The inner shell stands for a server that a test started.
            let script =
                format!("sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600' & sleep 600", pid.display());
            let jobs = vec![shell("long", &script), shell("never", "exit 1")];
            let error = run(jobs, 1, &interrupt, |ended| panic!("{} is reported", ended.name)).unwrap_err();
            assert!(error.is::<crate::interrupt::Interrupted>(), "{error}");
        });
        let server: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while crate::stack::Process::of(server).is_some() {
            assert!(Instant::now() < until, "what a test started runs on");
            std::thread::yield_now();
        }
    }
}
