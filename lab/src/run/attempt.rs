//! One experiment from its start to its end, however it ends, and the servers made whole again behind it.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail};
use futures_util::FutureExt as _;

use crate::{Experiment, Finding, Lab, Stack};

/// How long one experiment may take in a quick run: far more than its share of five minutes, because machines are slow.
const QUICK_MAX: Duration = Duration::from_secs(4 * 60);
/// How long one experiment may take in a full run.
const FULL_MAX: Duration = Duration::from_secs(15 * 60);
/// How deep below the folder of an experiment stacks of its own are looked for.
const DEPTH_MAX: usize = 3;

/// Runs an experiment. An error, a panic and a time limit that is over all mean that it could not be carried out.
pub(super) async fn attempt(experiment: &dyn Experiment, lab: &Lab) -> anyhow::Result<Finding> {
    within(lab.scale.pick(QUICK_MAX, FULL_MAX), experiment, lab).await
}

pub(super) async fn within(limit: Duration, experiment: &dyn Experiment, lab: &Lab) -> anyhow::Result<Finding> {
    match tokio::time::timeout(limit, AssertUnwindSafe(experiment.run(lab)).catch_unwind()).await {
        Ok(Ok(found)) => found,
        Ok(Err(panic)) => Err(anyhow!("it panicked: {}", told(panic.as_ref()))),
        Err(_) => bail!("it took longer than {} s", limit.as_secs()),
    }
}

fn told(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

/// Makes the servers answer again that an experiment left frozen or dead.
pub(super) async fn heal(stack: &Stack) {
    // One that does not run cannot be thawed, and need not be.
    for server in stack.servers().unwrap_or_default() {
        let _ = stack.thaw(&server);
    }
    if let Err(error) = stack.start_what_ended().await {
        tracing::warn!("the stack is not whole, which the next experiment may find out: {error:#}");
    }
}

/// Ends the stacks that an experiment brought up below its folder and did not take down.
pub(super) async fn take_down_below(dir: &Path, xtask: &Path) {
    for dir in stacks_below(dir, DEPTH_MAX) {
        if let Err(error) = Stack::at(&dir, xtask).down().await {
            tracing::error!("a stack is left behind in {}: {error:#}", dir.display());
        }
    }
}

fn stacks_below(dir: &Path, depth: usize) -> Vec<PathBuf> {
    if dir.join("stack.json").exists() {
        return vec![dir.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    if depth == 0 {
        return Vec::new();
    }
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink());
    folders.flat_map(|folder| stacks_below(&folder, depth - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_found_below_a_folder_but_not_inside_of_stacks() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a/three/kafka-1", "b", "c/d/e/f/too-deep"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["a/three/stack.json", "a/three/kafka-1/stack.json", "c/d/e/f/too-deep/stack.json"] {
            std::fs::write(dir.path().join(file), "{}").unwrap();
        }
        assert_eq!(stacks_below(dir.path(), DEPTH_MAX), [dir.path().join("a/three")]);
    }
}
