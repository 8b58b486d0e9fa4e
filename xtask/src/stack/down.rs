//! `cargo xtask stack down`: ends what `up` started, waits for it, and removes the scratch directory.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::place::Place;
use super::process::Process;
use super::state::State;

/// How long servers may take to end in an orderly way; their data is thrown away right after.
const ORDERLY_S: u64 = 15;
/// How long the system may take to remove a process that was killed.
const KILLED_S: u64 = 10;

/// Ends the stack in `dir`; false when there was none.
pub(crate) fn down(dir: &Path) -> Result<bool> {
    if State::load(dir)?.is_none() {
        return Ok(false);
    }
    let place = Place::take(dir)?;
    // Read again: until now another command may have been at work.
    let Some(state) = State::load(place.dir())? else { return Ok(false) };
    let processes: Vec<_> = state.servers.iter().filter_map(|server| server.process.clone()).collect();
    let stubborn = end(&processes);
    if !stubborn.is_empty() {
        bail!("still running: {stubborn:?}; {} is kept", place.dir().display());
    }
    place.remove()?;
    Ok(true)
}

/// Ends these processes and waits for them, all at once; returns the pids of those that even a kill did not end.
pub(crate) fn end(processes: &[Process]) -> Vec<u32> {
    processes.iter().for_each(Process::terminate);
    wait(processes, Duration::from_secs(ORDERLY_S));
    processes.iter().for_each(Process::kill);
    wait(processes, Duration::from_secs(KILLED_S));
    processes.iter().filter(|process| process.runs()).map(|process| process.pid).collect()
}

fn wait(processes: &[Process], limit: Duration) {
    let until = std::time::Instant::now() + limit;
    for process in processes {
        process.wait(until.saturating_duration_since(std::time::Instant::now()));
    }
}
