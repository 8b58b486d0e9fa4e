//! The scratch directory of a stack: where it is by default, that it is ours, and that one command at a time works in it.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::state;
use crate::workspace;

/// The file that a command holds locked while it changes the stack.
const LOCK: &str = "lock";

/// A scratch directory that this command has for itself.
pub(crate) struct Directory {
    path: PathBuf,
    /// Released when dropped.
    _lock: File,
}

/// Where the stack of this checkout lives unless `--dir` says otherwise.
///
/// Under the system's temporary directory, because servers that run as another user must be able to reach it; named
/// after the user and the checkout, so that several of each get along.
pub(crate) fn of_this_checkout() -> PathBuf {
    let root = workspace::root();
    let root = root.canonicalize().unwrap_or(root);
    let name = root.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    std::env::temp_dir().join(format!("madang-stack-{}{name}", user_id()))
}

/// A directory of its own for one run of the tests.
pub(crate) fn of_a_test_run() -> PathBuf {
    std::env::temp_dir().join(format!("madang-test-{}-{:08x}", user_id(), rand::random::<u32>()))
}

fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

impl Directory {
    /// Takes the directory for a new stack or for the one in it; refuses one that holds anything else.
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let existed = path.exists();
        if !existed {
            // Others may pass through to what belongs to them, and read nothing of the rest.
            let made = DirBuilder::new().recursive(true).mode(0o711).create(path);
            made.with_context(|| format!("could not make {}", path.display()))?;
        }
        // In a folder that others can write to, it may have been put there by somebody else.
        let about = std::fs::symlink_metadata(path).with_context(|| format!("could not read {}", path.display()))?;
        if !about.is_dir() || about.uid() != user_id() {
            bail!("{} is not a directory of yours: name another one with --dir", path.display());
        }
        let path = path.canonicalize()?;
        let holds_a_stack = path.join(state::FILE).exists() || path.join(LOCK).exists();
        if existed && !holds_a_stack && std::fs::read_dir(&path)?.next().is_some() {
            bail!("{} holds something that is not a stack: name a directory that is empty or absent", path.display());
        }
        let lock = File::create(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => bail!("another `cargo xtask stack` is at work in {}", path.display()),
            Err(TryLockError::Error(error)) => Err(error).context("could not lock the scratch directory"),
        }
    }

    /// The directory, as an absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directory with everything in it.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_dir_all(&self.path).with_context(|| format!("could not remove {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> String {
        Directory::take(path).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_directory_serves_one_command_at_a_time_and_goes_as_a_whole() {
        let path = of_a_test_run();
        let directory = Directory::take(&path).unwrap();
        assert!(refusal(&path).contains("at work"));
        drop(directory);
        let directory = Directory::take(&path).unwrap();
        std::fs::write(directory.path().join("log"), "text").unwrap();
        directory.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_with_other_things_in_it_and_a_link_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
        assert!(refusal(folder.path()).contains("not a stack"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(refusal(&link).contains("not a directory of yours"));
    }
}
