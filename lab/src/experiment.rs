//! What an experiment is, and what it is given to work with.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::{Finding, Stack, Wiring};

/// How much an experiment does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// All sixteen within five minutes on 2 cores: the same claims with fewer trials.
    Quick,
    /// All sixteen within thirty minutes on 2 cores.
    Full,
}

impl Scale {
    /// One of two values, by how much is to be done.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// One question about one protection.
#[async_trait]
pub trait Experiment: Send + Sync {
    /// Its name on the command line and in the report: `direct-produce`.
    fn id(&self) -> &'static str;
    /// What it asks, as a sentence.
    fn question(&self) -> &'static str;
    /// What counts as one trial and as a violation, as a sentence.
    fn counted(&self) -> &'static str;
    /// The naive wiring and the protected one.
    fn wirings(&self) -> [Wiring; 2];
    /// Runs both wirings on real servers. An error means that it could not be carried out, which is not a verdict.
    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding>;
}

/// What an experiment is given: servers, a folder, chance, and a way to say how far it is.
pub struct Lab {
    /// The servers; experiments may kill, freeze and restart them, and leave them running.
    pub stack: Stack,
    /// How much to do.
    pub scale: Scale,
    /// Where chance begins: the same seed draws the same faults in the same order.
    pub seed: u64,
    /// A folder of this experiment alone, for data and logs.
    pub dir: PathBuf,
    /// The binary with the four programs: this very one.
    pub programs: PathBuf,
    /// Whether tables and topics stay for a look when the experiment is over, with what the clients were told beside them.
    pub keep: bool,
    progress: watch::Sender<String>,
}

impl Lab {
    /// A lab on these servers, and where its progress can be watched.
    #[must_use]
    pub fn new(stack: Stack, scale: Scale, seed: u64, dir: &Path, programs: &Path) -> (Self, watch::Receiver<String>) {
        let (progress, watched) = watch::channel(String::new());
        let lab =
            Self { stack, scale, seed, dir: dir.to_owned(), programs: programs.to_owned(), keep: false, progress };
        (lab, watched)
    }

    /// Says in a few words how far the experiment is, with live counts: `naive 40/200 crashes, 12 lost`.
    pub fn progress(&self, words: impl Into<String>) {
        self.progress.send_replace(words.into());
    }
}
