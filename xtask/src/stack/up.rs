//! `cargo xtask stack up`: starts every part that does not run, side by side, and leaves nothing behind when broken off.

use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::part::Part;
use super::place::Place;
use super::process::Process;
use super::site::Site;
use super::state::{Server, State};
use super::{answers, down, kafka, mariadb, programs, redis};
use crate::interrupt::{Interrupt, Interrupted};

/// A part that could not be had, and why.
pub(crate) struct Missing {
    pub(crate) part: Part,
    pub(crate) why: anyhow::Error,
}

/// Brings the stack in `dir` up; returns what could not be had. Only an interrupt, or a directory that is not to be
/// used, is an error; then whatever this call started has ended again.
pub(crate) fn up(dir: &Path, brokers: u8, is_for_tests: bool, interrupt: &Interrupt) -> Result<(State, Vec<Missing>)> {
    let place = Place::take(dir)?;
    let found = State::load(place.dir())?;
    let is_new = found.is_none();
    let state = match found {
        Some(state) if state.brokers != brokers => bail!(
            "the stack in {} has {} broker(s), and their number is fixed: take it down first",
            place.dir().display(),
            state.brokers
        ),
        Some(state) => state,
        None => State::new(brokers)?,
    };
    state.save(place.dir())?;
    let site = Site::new(place.dir(), state, is_for_tests, interrupt);
    let missing = start_parts(&site);
    if interrupt.check().is_err() {
        down::end(&site.started());
        if is_new {
            place.remove()?;
        }
        return Err(Interrupted.into());
    }
    let state = site.state();
    Ok((state, missing))
}

/// Every part in a thread of its own; the failure of one does not concern the others.
fn start_parts(site: &Site<'_>) -> Vec<Missing> {
    std::thread::scope(|scope| {
        let starts = Part::ALL.map(|part| (part, scope.spawn(move || start(site, part))));
        let results = starts.map(|(part, start)| (part, start.join().unwrap_or_else(|_| Err(anyhow!("panicked")))));
        results.into_iter().filter_map(|(part, result)| result.err().map(|why| Missing { part, why })).collect()
    })
}

fn start(site: &Site<'_>, part: Part) -> Result<()> {
    if part.own().is_some() {
        site.say(part.name(), &format!("left to your own ({} is set)", part.variable().unwrap_or_default()));
        return Ok(());
    }
    let started = match part {
        Part::Mysql => mariadb::up(site),
        Part::Redis => redis::up(site),
        Part::RedisCluster => redis::cluster_up(site),
        Part::Kafka => kafka::up(site),
        Part::Nginx => for_tests_to_start(site, part, "nginx"),
        Part::Browser => for_tests_to_start(site, part, "chromedriver"),
    };
    if let Err(error) = &started {
        if !error.is::<Interrupted>() {
            site.say(part.name(), "FAILED");
        }
        // Half a part would be taken for a whole one by tests that find its address.
        down::end(&started_of(site, part));
    }
    started
}

/// Only installs a part: tests start it themselves, as they need it.
fn for_tests_to_start(site: &Site<'_>, part: Part, command: &str) -> Result<()> {
    site.installer.ensure(part, site)?;
    site.say(part.name(), &format!("is at {}, for tests to start", programs::get(command)?.display()));
    Ok(())
}

/// What this run started of a part.
fn started_of(site: &Site<'_>, part: Part) -> Vec<Process> {
    let started = site.started();
    let state = site.state();
    let processes = state.of(part).into_iter().filter_map(|server| server.process.clone());
    processes.filter(|process| started.contains(process)).collect()
}

/// The servers of these that must be started; one that runs without answering is not ours to repair.
pub(crate) fn not_running(site: &Site<'_>, servers: Vec<Server>) -> Result<Vec<Server>> {
    let mut to_start = Vec::new();
    for server in servers {
        if !server.runs() {
            to_start.push(server);
        } else if let Err(error) = answers::ask(&server) {
            bail!("{} runs but does not answer ({error:#}):\n{}", server.name, programs::tail(&server.log));
        } else {
            site.say(&server.name, &format!("runs already at 127.0.0.1:{}", server.port));
        }
    }
    Ok(to_start)
}

/// Runs all of these at once; the first failure in their order is the result.
pub(crate) fn all<F: FnOnce() -> Result<()> + Send>(tasks: impl Iterator<Item = F>) -> Result<()> {
    std::thread::scope(|scope| {
        let running: Vec<_> = tasks.map(|task| scope.spawn(task)).collect();
        let results: Vec<_> =
            running.into_iter().map(|task| task.join().unwrap_or_else(|_| Err(anyhow!("panicked")))).collect();
        results.into_iter().collect()
    })
}
