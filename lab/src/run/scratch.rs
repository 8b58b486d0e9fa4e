//! The folders of the experiments: one each, gone after what was shown, kept where there is something to look into.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::Verdict;
use crate::report::Entry;

/// The folder that holds those of the experiments.
pub(super) struct Scratch {
    dir: PathBuf,
    keep: bool,
}

impl Scratch {
    /// A new one below `parent`, which servers that run as another user must be able to reach.
    pub(super) fn make(parent: &Path, keep: bool) -> anyhow::Result<Self> {
        let dir = parent.join(format!("madang-lab-{:08x}", rand::random::<u32>()));
        Self::folder_at(&dir)?;
        Ok(Self { dir, keep })
    }

    /// The folder of one experiment.
    pub(super) fn folder(&self, id: &str) -> anyhow::Result<PathBuf> {
        let dir = self.dir.join(id);
        Self::folder_at(&dir)?;
        Ok(dir)
    }

    /// Others may pass through to what belongs to them, and read nothing of the rest.
    fn folder_at(dir: &Path) -> anyhow::Result<()> {
        DirBuilder::new().mode(0o711).create(dir).with_context(|| format!("could not make {}", dir.display()))
    }

    /// Leaves the folder of an experiment that has ended: removed if it was shown, kept and named otherwise.
    pub(super) fn leave(&self, dir: &Path, entry: &Entry) {
        if self.keep || entry.verdict == Verdict::NotShown {
            eprintln!("    its logs are in {}", dir.display());
        } else {
            self.remove(dir);
        }
    }

    /// Removes the folder of an experiment that was broken off, unless it is to be kept.
    pub(super) fn remove(&self, dir: &Path) {
        if self.keep {
            return;
        }
        if let Err(error) = std::fs::remove_dir_all(dir) {
            tracing::warn!("could not remove {}: {error}", dir.display());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Only if nothing is left in it.
        let _ = std::fs::remove_dir(&self.dir);
    }
}
