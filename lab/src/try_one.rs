//! One experiment by itself on a stack that is up, with all that it found on the terminal: for whoever writes one.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;

use crate::{Lab, Scale, Stack, experiments};

/// Which one, and where.
#[derive(clap::Args)]
pub struct Try {
    /// The experiment.
    id: String,
    /// Fewer trials.
    #[arg(long)]
    quick: bool,
    /// The directory of a stack that is up.
    #[arg(long)]
    stack: PathBuf,
    /// The binary of `xtask`.
    #[arg(long)]
    xtask: PathBuf,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Try {
    /// Runs it.
    pub async fn run(self) -> anyhow::Result<()> {
        let all = experiments::all();
        let found = all.iter().find(|experiment| experiment.id() == self.id);
        let experiment = found.with_context(|| format!("there is no experiment {}", self.id))?;
        let dir = tempfile::tempdir()?;
        let scale = if self.quick { Scale::Quick } else { Scale::Full };
        let stack = Stack::at(&self.stack, &self.xtask);
        let (lab, mut watched) = Lab::new(stack, scale, self.seed, dir.path(), &std::env::current_exe()?);
        let began = Instant::now();
        let said = async {
            while watched.changed().await.is_ok() {
                eprintln!("[{:>6.1} s] {}", began.elapsed().as_secs_f64(), *watched.borrow_and_update());
            }
        };
        let finding = tokio::select! {
            finding = experiment.run(&lab) => finding?,
            () = said => anyhow::bail!("nobody says anything any more"),
        };
        println!("{finding:#?}\n{:?} after {:.1} s", finding.verdict(), began.elapsed().as_secs_f64());
        Ok(())
    }
}
