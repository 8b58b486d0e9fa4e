//! Runs test programs, a few at once: many of them wait for servers and clocks more than they compute. The output of each is
//! shown as a whole when it has ended.

use std::collections::VecDeque;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::Signal;

use crate::interrupt::Interrupt;
use crate::stack;

/// How often it is looked whether the tests are done.
const LOOK_MS: u64 = 100;
/// How long tests may take to end once interrupted.
const END_S: u64 = 10;
/// A program that has not ended by then hangs, and is ended.
const PROGRAM_MAX_S: u64 = 30 * 60;

/// A program to run, under a name.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) command: Command,
}

/// How a program ended.
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) status: ExitStatus,
    /// Everything it printed.
    pub(super) output: String,
    pub(super) took: Duration,
}

/// Runs the jobs in their order, so many at once, and calls `tell` with each that has ended. An interrupt ends them all, with
/// what they started.
pub(super) fn run(
    jobs: Vec<Job>,
    at_once: usize,
    interrupt: &Interrupt,
    tell: impl FnMut(&Ended) + Send,
) -> Result<()> {
    interrupt.check()?;
    let crew = Crew { jobs: Mutex::new(jobs.into()), groups: Mutex::default(), done: AtomicBool::new(false) };
    let tell = Mutex::new(tell);
    std::thread::scope(|scope| {
        scope.spawn(|| crew.end_when_interrupted(interrupt));
        let workers: Vec<_> = (0..at_once.max(1)).map(|_| scope.spawn(|| crew.work(interrupt, &tell))).collect();
        let worked: Vec<Result<()>> =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| anyhow::bail!("panicked"))).collect();
        crew.done.store(true, Ordering::Release);
        interrupt.check()?;
        worked.into_iter().collect()
    })
}

struct Crew {
    jobs: Mutex<VecDeque<Job>>,
    /// The process groups of what runs, and since when.
    groups: Mutex<Vec<(u32, Instant)>>,
    done: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew {
    fn work(&self, interrupt: &Interrupt, tell: &Mutex<impl FnMut(&Ended)>) -> Result<()> {
        while interrupt.check().is_ok() {
            let Some(job) = lock(&self.jobs).pop_front() else { return Ok(()) };
            let ended = self.run_one(job)?;
            if interrupt.check().is_ok() {
                lock(tell)(&ended);
            }
        }
        Ok(())
    }

    fn run_one(&self, Job { name, mut command }: Job) -> Result<Ended> {
        let begun = Instant::now();
        // One pipe for both, so that a failure stands where it happened.
        let (mut reader, writer) = std::io::pipe().context("could not make a pipe")?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
        let mut child = {
            // Whoever ends the groups sees this one, or comes before it is started.
            let mut groups = lock(&self.groups);
            let child = command.spawn().with_context(|| format!("could not start {name}"))?;
            groups.push((child.id(), begun));
            child
        };
        // The command still holds the writing ends.
        drop(command);
        let mut output = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut output).context("could not read the output of tests")?;
        let status = child.wait()?;
        lock(&self.groups).retain(|(group, _)| *group != child.id());
        let output = String::from_utf8_lossy(&output).into_owned();
        Ok(Ended { name, status, output, took: begun.elapsed() })
    }

    fn end_when_interrupted(&self, interrupt: &Interrupt) {
        let look = Duration::from_millis(LOOK_MS);
        while interrupt.pause(look).is_ok() {
            if self.done.load(Ordering::Acquire) {
                return;
            }
            self.end_what_hangs();
        }
        self.signal(Signal::TERM);
        let until = Instant::now() + Duration::from_secs(END_S);
        while !self.done.load(Ordering::Acquire) {
            if Instant::now() >= until {
                // What still holds their output open would keep us waiting for ever.
                self.signal(Signal::KILL);
                return;
            }
            std::thread::park_timeout(look);
        }
    }

    fn end_what_hangs(&self) {
        let hangs = |begun: &Instant| begun.elapsed() > Duration::from_secs(PROGRAM_MAX_S);
        let groups = lock(&self.groups);
        groups
            .iter()
            .filter(|(_, begun)| hangs(begun))
            .for_each(|(group, _)| stack::signal_group(*group, Signal::KILL));
    }

    fn signal(&self, signal: Signal) {
        lock(&self.groups).iter().for_each(|(group, _)| stack::signal_group(*group, signal));
    }
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
    fn each_is_told_of_once_with_all_it_said() {
        let mut told = Vec::new();
        let jobs = vec![shell("a", "echo out; echo err >&2; exit 3"), shell("b", "echo b"), shell("c", "true")];
        run(jobs, 2, &Interrupt::default(), |ended| {
            told.push((ended.name.clone(), ended.status.code(), ended.output.clone()));
        })
        .unwrap();
        told.sort();
        let expected = [("a", 3, "out\nerr\n"), ("b", 0, "b\n"), ("c", 0, "")];
        assert_eq!(told, expected.map(|(name, code, said)| (name.to_owned(), Some(code), said.to_owned())));
    }

    #[test]
    fn two_at_once_run_beside_each_other() {
        let place = std::env::temp_dir().join(format!("madang-met-{}", std::process::id()));
        // Each waits for the other's mark.
        let meet = |own: &str, other: &str| {
            let (own, other) = (place.with_extension(own), place.with_extension(other));
            format!("touch {}; while [ ! -e {} ]; do :; done", own.display(), other.display())
        };
        let jobs = vec![shell("a", &meet("a", "b")), shell("b", &meet("b", "a"))];
        let mut ended = 0;
        run(jobs, 2, &Interrupt::default(), |_| ended += 1).unwrap();
        assert_eq!(ended, 2);
        for mark in ["a", "b"] {
            std::fs::remove_file(place.with_extension(mark)).unwrap();
        }
    }

    #[test]
    fn an_interrupt_ends_the_tests_and_what_they_started_and_begins_nothing_more() {
        let interrupt = Interrupt::default();
        let begun = std::env::temp_dir().join(format!("madang-begun-{}", std::process::id()));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let until = Instant::now() + Duration::from_secs(60);
                while !begun.exists() && Instant::now() < until {
                    std::thread::yield_now();
                }
                interrupt.raise();
            });
            // The inner shell stands for a server that a test started: it holds the output open.
            let script = format!("sh -c 'touch {}; sleep 600' & sleep 600", begun.display());
            let jobs = vec![shell("long", &script), shell("never", "exit 1")];
            let error = run(jobs, 1, &interrupt, |ended| panic!("told of {}", ended.name)).unwrap_err();
            assert!(error.is::<crate::interrupt::Interrupted>(), "{error}");
        });
        std::fs::remove_file(begun).unwrap();
    }
}
