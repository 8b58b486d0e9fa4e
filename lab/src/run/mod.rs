//! `madang-lab run`: one experiment after another, each with a folder and a time limit, and a report that grows with each.

mod attempt;
mod circumstances;
mod interrupt;
mod progress;
mod scratch;
mod selection;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use madang_kernel::{Clock as _, SystemClock};

use crate::report::{self, Entry, Report};
use crate::{Experiment, Lab, Scale, Stack};
use progress::Progress;
use scratch::Scratch;

pub(crate) use circumstances::{commit, root};
pub use selection::{choose, listed};

/// What to run, on what, and where the report goes.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The experiments; all of them if none is named.
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// The same claims with fewer trials: all sixteen within five minutes.
    #[arg(long)]
    pub quick: bool,
    /// Where report.html, report.json and the pictures go.
    #[arg(long, value_name = "DIR", default_value = "target/lab")]
    pub out: PathBuf,
    /// Where chance begins: the same seed draws the same faults in the same order.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Leaves tables, topics and logs for a look.
    #[arg(long)]
    pub keep: bool,
    /// The directory of a running stack, whose servers are going to be killed.
    #[arg(long, value_name = "DIR")]
    pub stack: PathBuf,
    /// The program that starts and ends its servers.
    #[arg(long, value_name = "PATH")]
    pub xtask: PathBuf,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything asked for was shown.
    AllShown,
    /// Something was not shown, or could not be carried out.
    NotAllShown,
    /// Somebody asked it to stop; the report holds what was done by then.
    Interrupted,
}

/// Runs what was asked for until the end or until somebody interrupts.
pub async fn run(options: &Options) -> anyhow::Result<Ended> {
    let interrupted = interrupt::listen()?;
    let chosen = selection::choose(crate::experiments::all(), &options.ids)?;
    let programs = std::env::current_exe().context("this program does not know where it is")?;
    let scratch = Scratch::make(&std::env::temp_dir(), options.keep)?;
    run_all(options, &chosen, &programs, &scratch, interrupted).await
}

/// Runs these experiments. Whatever ends one early drops its future, and with it every process that it started.
async fn run_all(
    options: &Options,
    chosen: &[Box<dyn Experiment>],
    programs: &Path,
    scratch: &Scratch,
    interrupted: impl Future<Output = ()>,
) -> anyhow::Result<Ended> {
    let stack = Stack::at(&options.stack, &options.xtask);
    let scale = if options.quick { Scale::Quick } else { Scale::Full };
    let mut report = Report {
        commit: circumstances::commit(),
        started_at: SystemClock.now(),
        quick: options.quick,
        experiments: Vec::new(),
        seed: options.seed,
        machine: circumstances::machine(),
        seconds: 0.0,
    };
    let (began, progress) = (Instant::now(), Progress::of(chosen.len()));
    let mut interrupted = std::pin::pin!(interrupted);
    let mut was_interrupted = false;
    for experiment in chosen {
        let dir = scratch.folder(experiment.id())?;
        let seed = seed_of(options.seed, experiment.id());
        let (mut lab, watched) = Lab::new(stack.clone(), scale, seed, &dir, programs);
        lab.keep = options.keep;
        progress.begin(experiment.as_ref());
        let started = Instant::now();
        let found = tokio::select! {
            biased;
            () = &mut interrupted => None,
            found = attempt::attempt(experiment.as_ref(), &lab) => Some(found),
            never = progress.watch(watched) => match never {},
        };
        let Some(found) = found else {
            was_interrupted = true;
            attempt::take_down_below(&dir, &options.xtask).await;
            scratch.remove(&dir);
            break;
        };
        let entry = Entry::of(experiment.as_ref(), found, started.elapsed().as_secs_f64());
        attempt::take_down_below(&dir, &options.xtask).await;
        if entry.error.is_some() {
            attempt::heal(&stack).await;
        }
        progress.end(&entry);
        scratch.leave(&dir, &entry);
        report.experiments.push(entry);
        report.seconds = began.elapsed().as_secs_f64();
        report.write(&options.out, &root())?;
    }
    progress.finish(&report, &options.out.join(report::PAGE), was_interrupted);
    Ok(match (was_interrupted, report.all_shown()) {
        (true, _) => Ended::Interrupted,
        (false, true) => Ended::AllShown,
        (false, false) => Ended::NotAllShown,
    })
}

/// The seed of one experiment: the same whether it runs alone or after others.
fn seed_of(seed: u64, id: &str) -> u64 {
    id.bytes()
        .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests;
