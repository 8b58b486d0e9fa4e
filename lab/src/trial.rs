//! One experiment by itself, on a stack that somebody brought up: what one runs while one works on it.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;

use crate::programs::process;
use crate::{Experiment, Lab, Scale, Stack, experiments};

/// How it is asked for.
#[derive(Debug, clap::Args)]
pub struct Trial {
    /// Its name.
    id: String,
    /// Fewer trials.
    #[arg(long)]
    quick: bool,
    /// The directory of the stack.
    #[arg(long)]
    stack: PathBuf,
    /// The `xtask` that brought it up.
    #[arg(long)]
    xtask: PathBuf,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where logs go.
    #[arg(long, default_value = "target/lab-trial")]
    dir: PathBuf,
}

impl Trial {
    /// Runs it and prints what it found.
    pub fn run(self) -> anyhow::Result<()> {
        process::run(async move {
            let found = experiments::all().into_iter().find(|experiment| experiment.id() == self.id);
            self.carry_out(found.context("there is no such experiment")?.as_ref()).await
        })
    }

    async fn carry_out(&self, experiment: &dyn Experiment) -> anyhow::Result<()> {
        let scale = if self.quick { Scale::Quick } else { Scale::Full };
        let programs = std::env::current_exe().context("this program has no path")?;
        let stack = Stack::at(&self.stack, &self.xtask);
        let (lab, mut progress) = Lab::new(stack, scale, self.seed, &self.dir.join(experiment.id()), &programs);
        let began = Instant::now();
        let told = async {
            while progress.changed().await.is_ok() {
                eprintln!("{:>6.1} s  {}", began.elapsed().as_secs_f64(), *progress.borrow_and_update());
            }
            std::future::pending::<()>().await;
        };
        let finding = tokio::select! {
            finding = experiment.run(&lab) => finding?,
            () = process::asked_to_end() => anyhow::bail!("interrupted"),
            () = told => unreachable!("it is told for as long as it runs"),
        };
        println!("{} ({:.1} s): {:?}", experiment.id(), began.elapsed().as_secs_f64(), finding.verdict());
        println!("off {:?}\non  {:?}\nfaults {} {:?}", finding.off, finding.on, finding.fault_count(), finding.faults);
        for chart in &finding.charts {
            println!("{chart:?}");
        }
        finding.notes.iter().for_each(|note| println!("- {note}"));
        Ok(())
    }
}
